import { readFile, realpath, stat } from "node:fs/promises";
import { basename, isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { PickedFile } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";

/** More is not read: no file that can be attached is as large. */
export const mostBytes = 4 * 1024 * 1024;

/** Where VS Code shows a window of another machine, its files have this scheme; here they have "file". */
const remote = "vscode-remote:";

/**
 * Reads a file of the workspace that somebody dragged. Whoever wrote a page can say which URI is dragged from it, so
 * nothing but a file in one of the folders is read, wherever links lead. Rejects with a sentence that names it.
 */
export async function readWorkspaceFile(
  uri: string,
  folders: readonly string[],
): Promise<PickedFile> {
  const path = await pathIn(uri, folders);
  if (path === undefined) {
    throw new Error(
      l10n.t("{0} is not a file of this workspace: choose it with Files… instead.", uri),
    );
  }
  const name = basename(path);
  const stats = await stat(path);
  // A pipe or a device would be read for ever.
  if (!stats.isFile()) throw new Error(l10n.t("{0} is not a file.", name));
  if (stats.size > mostBytes) return { name, size: stats.size };
  const data = await readFile(path);
  return { name, size: data.length, data: data.toString("base64") };
}

/** Where a file of one of the folders really is. */
async function pathIn(uri: string, folders: readonly string[]): Promise<string | undefined> {
  try {
    const path = await realpath(pathOf(uri));
    const roots = await Promise.all(folders.map((folder) => realpath(folder)));
    return roots.some((root) => isIn(root, path)) ? path : undefined;
  } catch {
    // It is no URI of a file, or there is no such file. What is there outside of the workspace is not told.
    return undefined;
  }
}

function pathOf(uri: string): string {
  const url = new URL(uri);
  return fileURLToPath(url.protocol === remote ? new URL(`file://${url.pathname}`) : url);
}

function isIn(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
