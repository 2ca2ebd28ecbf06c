import { join } from "node:path";

/** The repository. */
export const root = join(import.meta.dirname, "..", "..", "..");

/** The extension's files besides its sources. */
export const extensionFolder = join(root, "extension");

/** Packages, screenshots and example servers: what a person may want to look at. */
export const distFolder = join(root, "dist");

/** Downloads and data that are worth keeping from one run to the next. */
export const cacheFolder = join(root, ".cache");

/** The path at which the extension expects the sidecar for this machine. */
export const sidecarBinary = join(
  extensionFolder,
  "bin",
  process.platform === "win32" ? "assent.exe" : "assent",
);
