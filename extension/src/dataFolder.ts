import { createHash } from "node:crypto";
import { join } from "node:path";

/** What a window has open, as URIs. */
export interface Opened {
  /** The file of the workspace, if it is saved. */
  readonly workspaceFile: string | undefined;
  /** The folders. */
  readonly folders: readonly string[];
}

/**
 * Returns the folder for the conversations of a workspace, the same for all windows that have it open. VS Code's own
 * `storageUri` differs for a second window on the same folder.
 */
export function dataFolderOf(globalStorage: string, { workspaceFile, folders }: Opened): string {
  const opened = workspaceFile === undefined ? folders.toSorted() : [workspaceFile];
  if (opened.length === 0) return globalStorage;
  const key = createHash("sha256").update(opened.join("\n")).digest("hex").slice(0, 32);
  return join(globalStorage, "workspaces", key);
}

/**
 * Returns the arguments of a window's sidecar. The windows of all workspaces share the extension's secrets, so they
 * also share the folder with the login locks.
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
