import * as vscode from "vscode";
import { showQuickPick } from "./window.ts";

/** What the person confirms. */
export interface Confirmation {
  readonly title: string;
  /** JSON with comments. It begins with text that the person knows already, because the list covers the first lines. */
  readonly text: string;
  /** The label of the confirming choice, such as "Add This Server". */
  readonly add: string;
}

/**
 * Lets the person confirm which programs to start. A read-only document shows all of what will be added.
 */
export class Preview implements vscode.TextDocumentContentProvider {
  static readonly scheme = "assent-import";

  #text = "";

  /** Returns the preview for VS Code's read-only document. */
  provideTextDocumentContent(): string {
    return this.#text;
  }

  async confirm({ title, text, add }: Confirmation): Promise<boolean> {
    this.#text = text;
    // VS Code caches the text of a document, so each preview has a new URI.
    const uri = vscode.Uri.from({
      scheme: Preview.scheme,
      path: `/${vscode.l10n.t("{0} (Preview)", title)}.jsonc`,
      query: String(Date.now()),
    });
    await vscode.window.showTextDocument(uri, { preview: true, preserveFocus: true });
    const yes: vscode.QuickPickItem = { label: add };
    const no: vscode.QuickPickItem = { label: vscode.l10n.t("Cancel") };
    // Unlike a dialog, a list that stays open lets the person scroll the document. Cancel comes first, so that an
    // accidental Enter adds nothing.
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
