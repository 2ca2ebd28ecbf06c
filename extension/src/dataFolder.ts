import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";

/** What a window has open, as URIs. */
export interface Opened {
  /** The saved workspace, where it is one. */
  readonly workspaceFile: string | undefined;
  /** The folders. */
  readonly folders: readonly string[];
}

/**
 * The folder that the conversations of a workspace are in: one for all windows that have it open. VS Code's own
 * `storageUri` is not, because a second window on the same folder gets another one, beside the first.
 */
export function dataFolderOf(globalStorage: string, { workspaceFile, folders }: Opened): string {
  const opened = workspaceFile === undefined ? folders.toSorted() : [workspaceFile];
  if (opened.length === 0) return globalStorage;
  const key = createHash("sha256").update(opened.join("\n")).digest("hex").slice(0, 32);
  return join(globalStorage, "workspaces", key);
}

/**
 * The arguments of a window's sidecar. The windows of all workspaces share the secrets of the extension, so they share
 * the folder with the locks of logins, too.
 */
export function serveArgs(
  globalStorage: string,
  data: string,
  logLevel: string,
  standalone: boolean,
): readonly string[] {
  const logins = join(globalStorage, "logins");
  const args = ["serve", "--data-dir", data, "--logins-dir", logins, "--log-level", logLevel];
  return standalone ? [...args, "--standalone"] : args;
}

/**
 * Moves what an earlier version kept in another folder, if this one has nothing yet. If that fails, it
 * throws, and the data stays in the other folder.
 */
export function moveData(from: string, to: string): void {
  if (existsSync(to) || !existsSync(join(from, "assent.db"))) return;
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
}
