import type { OpenTextParams, OpenTextResult } from "@assent/protocol/host";
import * as vscode from "vscode";

/** Opens a text as an untitled document. */
export async function openText({ text }: OpenTextParams): Promise<OpenTextResult> {
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: text });
  await vscode.window.showTextDocument(document, { preview: false });
  return { opened: true };
}
