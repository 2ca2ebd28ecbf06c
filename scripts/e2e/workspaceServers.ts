import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Adds a server to a workspace's mcp.json, which is read again when it changes. */
export async function addServer(workspace: string, name: string, server: object): Promise<void> {
  const path = join(workspace, ".vscode", "mcp.json");
  const text = await readFile(path, "utf8");
  const open = '"servers": {\n';
  assert(text.includes(open), "the workspace has servers");
  await writeFile(path, text.replace(open, `${open}    "${name}": ${JSON.stringify(server)},\n`));
}
