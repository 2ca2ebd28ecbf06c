import { readFile, realpath, stat } from "node:fs/promises";
import { basename, isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { PickedFile } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";

/** The largest file that is read. It is the limit of an attachment. */
export const mostBytes = 4 * 1024 * 1024;

/** The scheme of files in a window of another machine. Here they have "file". */
const remote = "vscode-remote:";

/**
 * Reads a file of the workspace that the person dragged. A web page can set the URI that is dragged from it, so only
 * files in one of the folders are read, and symbolic links must stay there. Rejects with a sentence that names the
 * file.
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
  // Reading a pipe or a device might never end.
  if (!stats.isFile()) throw new Error(l10n.t("{0} is not a file.", name));
  if (stats.size > mostBytes) return { name, size: stats.size };
  const data = await readFile(path);
  return { name, size: data.length, data: data.toString("base64") };
}

/** Returns the resolved path of a file in one of the folders. */
async function pathIn(uri: string, folders: readonly string[]): Promise<string | undefined> {
  try {
    const path = await realpath(pathOf(uri));
    const roots = await Promise.all(folders.map((folder) => realpath(folder)));
    return roots.some((root) => isIn(root, path)) ? path : undefined;
  } catch {
    // It is not the URI of a file, or the file does not exist. The error must not reveal which files exist outside the
    // workspace.
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
