import type { ConfirmServerParams, ConfirmServerResult } from "@assent/protocol";
import * as vscode from "vscode";
import { definitionText } from "./definitionText.ts";
import { openConfiguration } from "./openSource.ts";
import { showWarningMessage } from "./window.ts";

/**
 * Asks whether a server may run that a file of the workspace configures. The sidecar keeps the answer. A person who looks
 * at the file first has decided nothing, and is asked again when they start the server.
 */
export class ConfirmServer {
  /** VS Code shows one dialog at a time, and the next one would hide which server the first is about. */
  #last: Promise<unknown> = Promise.resolve();

  ask(params: ConfirmServerParams, token: vscode.CancellationToken): Promise<ConfirmServerResult> {
    const inTurn = this.#last.then(() => ask(params, token));
    this.#last = inTurn.catch(() => undefined);
    return inTurn;
  }
}

async function ask(
  params: ConfirmServerParams,
  token: vscode.CancellationToken,
): Promise<ConfirmServerResult> {
  if (token.isCancellationRequested) return {};
  const { serverName, source, line, earlier } = params;
  const run = vscode.l10n.t("Run It");
  const refuse = vscode.l10n.t("Do Not Run It");
  const open = vscode.l10n.t("Show Configuration");
  const message =
    earlier === undefined
      ? vscode.l10n.t("The MCP server {0} is new in this workspace. Do you run it?", serverName)
      : vscode.l10n.t(
          "The MCP server {0} has changed since you confirmed it. Do you run it?",
          serverName,
        );
  const detail = definitionText(params);
  const chosen = await showWarningMessage(message, { modal: true, detail }, run, refuse, open);
  switch (chosen) {
    case run:
      return { decision: "allowed" };
    case refuse:
      return { decision: "refused" };
    case open:
      await openConfiguration({ source, ...(line !== undefined && { line }) });
      return {};
    default:
      return {};
  }
}
