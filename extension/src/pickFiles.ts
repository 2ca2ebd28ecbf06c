import { basename } from "node:path/posix";
import type { PickFilesResult } from "@assent/protocol/host";
import * as vscode from "vscode";
import { mostBytes } from "./workspaceFile.ts";

/** Lets the person choose files to attach, starting in the workspace's folder. */
export async function pickFiles(): Promise<PickFilesResult> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const chosen = await vscode.window.showOpenDialog({
    canSelectMany: true,
    openLabel: vscode.l10n.t("Attach"),
    title: vscode.l10n.t("Attach Files to the Message"),
    ...(folder !== undefined && { defaultUri: folder }),
  });
  const files = (chosen ?? []).map(async (uri) => {
    const name = basename(uri.path);
    const { size } = await vscode.workspace.fs.stat(uri);
    if (size > mostBytes) return { name, size };
    const data = Buffer.from(await vscode.workspace.fs.readFile(uri));
    return { name, size: data.length, data: data.toString("base64") };
  });
  return { files: await Promise.all(files) };
}
