import * as vscode from "vscode";
import { mentionOf, quoteOf } from "./quote.ts";
import type { Panel } from "./view.ts";

/**
 * Puts the selection of the editor, or the names of files, into the panel's composer. It reads nothing else and sends
 * nothing. VS Code gives a menu's command the file that the menu was opened on and, in the explorer, all selected
 * files.
 */
export async function askAbout(panel: Panel, chosen: readonly unknown[]): Promise<void> {
  const [opened, selected] = chosen;
  const text = Array.isArray(selected) ? mention(selected) : (quote() ?? mention([opened]));
  if (text !== undefined) await panel.reveal({ kind: "draft", text });
}

/** The selection of the editor, or the name of its file if nothing is selected. */
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
    // A selection of whole lines ends at the start of the next line.
    to: Math.max(start.line, end.character === 0 ? end.line - 1 : end.line) + 1,
  });
}

function mention(chosen: readonly unknown[]): string | undefined {
  const files = chosen.filter((it) => it instanceof vscode.Uri);
  if (files.length === 0) return undefined;
  return mentionOf(files.map((uri) => vscode.workspace.asRelativePath(uri)));
}
