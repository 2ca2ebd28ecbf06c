import * as vscode from "vscode";
import { showQuickPick } from "./window.ts";

/** What is to be confirmed. */
export interface Confirmation {
  readonly title: string;
  /** JSON with comments. It begins with what the person knows: the list lies over the first lines. */
  readonly text: string;
  /** What the person chooses to have it done, such as "Add This Server". */
  readonly add: string;
}

/**
 * Has the person confirm what says which programs to start, beside the whole of it: in a document that
 * cannot be changed.
 */
export class Preview implements vscode.TextDocumentContentProvider {
  static readonly scheme = "assent-import";

  #text = "";

  /** The preview, which VS Code shows as a document that cannot be changed. */
  provideTextDocumentContent(): string {
    return this.#text;
  }

  async confirm({ title, text, add }: Confirmation): Promise<boolean> {
    this.#text = text;
    // VS Code keeps the text of a document that it has seen, so each preview is another one.
    const uri = vscode.Uri.from({
      scheme: Preview.scheme,
      path: `/${vscode.l10n.t("{0} (Preview)", title)}.jsonc`,
      query: String(Date.now()),
    });
    await vscode.window.showTextDocument(uri, { preview: true, preserveFocus: true });
    const yes: vscode.QuickPickItem = { label: add };
    const no: vscode.QuickPickItem = { label: vscode.l10n.t("Cancel") };
    // A list that stays where it is, other than a dialogue, lets the person scroll the document.
    // Whoever presses Enter once too often has added nothing.
    const choice = await showQuickPick([no, yes], {
      title,
      placeHolder: vscode.l10n.t("The editor shows what will be added"),
      ignoreFocusOut: true,
    });
    await closeTabsOf(uri);
    return choice === yes;
  }
}

async function closeTabsOf(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  await vscode.window.tabGroups.close(
    tabs.filter(
      ({ input }) =>
        input instanceof vscode.TabInputText && input.uri.toString() === uri.toString(),
    ),
  );
}
