import { readFileSync } from "node:fs";
import { join } from "node:path";
import { extensionFolder } from "./paths.ts";

const manifest: unknown = JSON.parse(readFileSync(join(extensionFolder, "package.json"), "utf8"));

/** The product's version, which the extension's package.json defines. */
export const version = readVersion(manifest);

function readVersion(value: unknown): string {
  if (typeof value === "object" && value !== null && "version" in value) {
    return String(value.version);
  }
  throw new Error("extension/package.json has no version");
}
