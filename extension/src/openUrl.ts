import type { OpenURLParams, OpenURLResult } from "@assent/protocol";
import * as vscode from "vscode";
import { webUrl } from "./webUrl.ts";
import { showInformationMessage } from "./window.ts";

/**
 * Opens a page in the person's browser after they have seen the whole URL and agreed. It asks here unless the panel has
 * asked already.
 */
export async function openUrl(
  params: OpenURLParams,
  token: vscode.CancellationToken,
): Promise<OpenURLResult> {
  const url = webUrl(params.url);
  const consented = params.consented === true || (await askFor(url, params.reason));
  if (!consented || token.isCancellationRequested) return { opened: false };
  // VS Code opens a string unchanged, but unescapes the query of a Uri, which would break a signed URL. Its typings
  // know only the Uri.
  return { opened: await vscode.env.openExternal(url as unknown as vscode.Uri) };
}

/** Asks in a dialog, because a notification cuts long texts off. */
async function askFor(url: string, reason: string): Promise<boolean> {
  const open = vscode.l10n.t("Open");
  const choice = await showInformationMessage(reason, { modal: true, detail: url }, open);
  return choice === open;
}
