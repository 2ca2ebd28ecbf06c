import type { PromptInputParams, PromptInputResult } from "@assent/protocol";
import * as vscode from "vscode";
import { showInputBox, showQuickPick } from "./window.ts";

const prefix = "input:";

/**
 * Asks once for each value of an mcp.json's inputs, and stores it. A value belongs to the configuration file that asks
 * for it. Another file with the same id does not get it.
 */
export class Inputs {
  readonly #secrets: vscode.SecretStorage;
  /** VS Code has one input box: a second prompt would close the first. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  prompt(params: PromptInputParams, token: vscode.CancellationToken): Promise<PromptInputResult> {
    const inTurn = this.#last.then(() => this.#prompt(params, token));
    this.#last = inTurn.catch(() => undefined);
    return inTurn;
  }

  /** Forgets one value. */
  async forget(source: string, id: string): Promise<void> {
    await this.#secrets.delete(keyOf(source, id));
  }

  /** Forgets all values. Servers ask again when they start next. */
  async forgetAll(): Promise<void> {
    const keys = await this.#secrets.keys();
    await Promise.all(
      keys.filter((key) => key.startsWith(prefix)).map((key) => this.#secrets.delete(key)),
    );
  }

  async #prompt(
    params: PromptInputParams,
    token: vscode.CancellationToken,
  ): Promise<PromptInputResult> {
    const key = keyOf(params.source, params.id);
    const kept = await this.#secrets.get(key);
    const value = kept ?? (await ask(params, token));
    if (value === undefined) return { value: null };
    if (kept === undefined) await this.#secrets.store(key, value);
    return { value: { secret: value } };
  }
}

function keyOf(source: string, id: string): string {
  return prefix + JSON.stringify([source, id]);
}

async function ask(
  params: PromptInputParams,
  token: vscode.CancellationToken,
): Promise<string | undefined> {
  const title = vscode.l10n.t("MCP Server {0}", params.serverName);
  const prompt = params.description ?? params.id;
  switch (params.kind) {
    case "promptString":
      return await showInputBox(
        {
          title,
          prompt,
          password: params.password ?? false,
          ignoreFocusOut: true,
          ...(params.default === undefined ? {} : { value: params.default }),
        },
        token,
      );
    case "pickString": {
      const options = [...(params.options ?? [])];
      // Enter accepts the default, if there is one.
      options.sort((a, b) => Number(b === params.default) - Number(a === params.default));
      const chosen = await showQuickPick(
        options.map((label) => ({ label })),
        { title, placeHolder: prompt, ignoreFocusOut: true },
        token,
      );
      return chosen?.label;
    }
    default:
      return params.kind satisfies never;
  }
}
