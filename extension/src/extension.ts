import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { Session } from "./session.ts";

let session: Session | undefined;

export function activate(context: vscode.ExtensionContext): void {
  if (vscode.l10n.bundle !== undefined) l10n.config({ contents: vscode.l10n.bundle });
  session = new Session(context);
}

/** VS Code waits for this promise, but not for subscriptions. */
export async function deactivate(): Promise<void> {
  await session?.dispose();
}
