import type { OpenURLParams, OpenURLResult } from "@assent/protocol";
import * as vscode from "vscode";
import { webUrl } from "./webUrl.ts";
import { showInformationMessage } from "./window.ts";

/**
 * Opens a page in the person's browser, after they have seen the whole URL and agreed: here, where
 * they were not shown it before.
 */
export async function openUrl(
  params: OpenURLParams,
  token: vscode.CancellationToken,
): Promise<OpenURLResult> {
  const url = webUrl(params.url);
  const consented = params.consented === true || (await askFor(url, params.reason));
  if (!consented || token.isCancellationRequested) return { opened: false };
  // VS Code takes a string as it is, and undoes the escapes in the query of a Uri: what a server
  // signed would not be what it gets. Its typings know only the Uri.
  return { opened: await vscode.env.openExternal(url as unknown as vscode.Uri) };
}

/** Asks in a dialogue, because a notification cuts long texts off. */
async function askFor(url: string, reason: string): Promise<boolean> {
  const open = vscode.l10n.t("Open");
  const choice = await showInformationMessage(reason, { modal: true, detail: url }, open);
  return choice === open;
}
