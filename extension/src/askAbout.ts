import * as vscode from "vscode";
import { mentionOf, quoteOf } from "./quote.ts";
import type { Panel } from "./view.ts";

/**
 * Puts what the person has chosen into the panel's composer, where they go on: the selection of the editor,
 * or the names of files. Nothing is read but the selection, and nothing is sent. VS Code gives the command of a
 * menu the file that it was opened on and, in the explorer, all that are selected.
 */
export async function askAbout(panel: Panel, chosen: readonly unknown[]): Promise<void> {
  const [opened, selected] = chosen;
  const text = Array.isArray(selected) ? mention(selected) : (quote() ?? mention([opened]));
  if (text !== undefined) await panel.reveal({ kind: "draft", text });
}

/** The selection of the editor, or the name of its file where nothing is selected. */
function quote(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return undefined;
  const { document, selection } = editor;
  if (selection.isEmpty) return mention([document.uri]);
  const { start, end } = selection;
  return quoteOf({
    path: vscode.workspace.asRelativePath(document.uri),
    language: document.languageId,
    text: document.getText(selection),
    from: start.line + 1,
    // A selection of whole lines ends where the next one begins.
    to: Math.max(start.line, end.character === 0 ? end.line - 1 : end.line) + 1,
  });
}

function mention(chosen: readonly unknown[]): string | undefined {
  const files = chosen.filter((it) => it instanceof vscode.Uri);
  if (files.length === 0) return undefined;
  return mentionOf(files.map((uri) => vscode.workspace.asRelativePath(uri)));
}
