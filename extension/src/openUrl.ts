import type { OpenURLParams, OpenURLResult } from "@assent/protocol";
import * as vscode from "vscode";
import { webUrl } from "./webUrl.ts";

/**
 * Opens a page in the person's browser, after they have seen the whole URL and agreed. It is asked in
 * a dialogue, because a notification cuts long texts off.
 */
export async function openUrl(
  params: OpenURLParams,
  token: vscode.CancellationToken,
): Promise<OpenURLResult> {
  const url = webUrl(params.url);
  const open = "Open";
  const choice = await vscode.window.showInformationMessage(
    params.reason,
    { modal: true, detail: url },
    open,
  );
  if (choice !== open || token.isCancellationRequested) return { opened: false };
  // VS Code takes a string as it is, and undoes the escapes in the query of a Uri: what a server
  // signed would not be what it gets. Its typings know only the Uri.
  return { opened: await vscode.env.openExternal(url as unknown as vscode.Uri) };
}
