import type { SourcePosition } from "@assent/protocol/host";
import * as vscode from "vscode";

const example = `{
  // The MCP servers of this folder. VS Code's own chat reads this file too.
  "servers": {
    // "everything": {
    //   "command": "npx",
    //   "args": ["-y", "@modelcontextprotocol/server-everything"],
    //   "env": { "TOKEN": "\${input:token}" }
    // }
  },
  // Values that are asked for at a server's first start and kept in the secret storage.
  "inputs": [
    // { "id": "token", "type": "promptString", "description": "The token", "password": true }
  ]
}
`;

/** Opens a place in a configuration file. Without a place it opens the file for a first server. */
export async function openConfiguration(position: SourcePosition | undefined): Promise<null> {
  const source = position?.source;
  if (source === "settings") await openSettings(position?.setting);
  else if (source !== undefined) {
    await openAt(vscode.Uri.file(source), position?.line, position?.column);
  } else {
    const folder = await chooseFolder();
    if (folder !== undefined) await openFileOf(folder);
  }
  return null;
}

/** Settings that start programs belong to the machine that runs them. */
async function openSettings(setting?: string): Promise<void> {
  const settings = vscode.env.remoteName === undefined ? "openSettings" : "openRemoteSettings";
  const query = setting === undefined ? "@ext:assent.assent" : `@id:${setting}`;
  await vscode.commands.executeCommand(`workbench.action.${settings}`, { query });
}

async function chooseFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length > 1) return await vscode.window.showWorkspaceFolderPick();
  if (folders.length === 0) await openSettings();
  return folders[0];
}

async function openFileOf(folder: vscode.WorkspaceFolder): Promise<void> {
  const file = vscode.Uri.joinPath(folder.uri, ".vscode", "mcp.json");
  if (!(await exists(file))) {
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(example));
  }
  await openAt(file);
}

/** Opens a file at a place. Lines and columns count from 1. */
export async function openAt(file: vscode.Uri, line = 1, column = 1): Promise<void> {
  const place = new vscode.Position(Math.max(line - 1, 0), Math.max(column - 1, 0));
  await vscode.window.showTextDocument(file, { selection: new vscode.Range(place, place) });
}

async function exists(file: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(file);
    return true;
  } catch {
    return false;
  }
}
