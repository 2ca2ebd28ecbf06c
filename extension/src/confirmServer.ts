import type { ConfirmServerParams, ConfirmServerResult } from "@assent/protocol";
import { confirmQuestion, definitionsText, definitionText } from "@assent/protocol/definitionText";
import * as vscode from "vscode";
import { openConfiguration } from "./openSource.ts";
import { showWarningMessage } from "./window.ts";

/** How long a question waits for others, in milliseconds. The first message of a task starts all servers at once. */
const gatherMs = 100;

/** The most definitions in one dialog. */
const mostTogether = 5;

interface Question {
  readonly params: ConfirmServerParams;
  readonly token: vscode.CancellationToken;
  decide(result: ConfirmServerResult): void;
  fail(error: unknown): void;
}

/**
 * Asks the person whether servers that a file of the workspace configures may run. The sidecar keeps the answers. A person
 * who opens the file first has decided nothing: the sidecar asks them again when they start the server. So it does for all
 * servers that wait when the person dismisses a dialog.
 */
export class ConfirmServer {
  #questions: Question[] = [];
  /** VS Code shows one dialog at a time. Questions that arrive while one is open are asked together afterwards. */
  #isAsking = false;

  ask(params: ConfirmServerParams, token: vscode.CancellationToken): Promise<ConfirmServerResult> {
    return new Promise((decide, fail) => {
      this.#questions.push({ params, token, decide, fail });
      if (!this.#isAsking) void this.#askAll();
    });
  }

  async #askAll(): Promise<void> {
    this.#isAsking = true;
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    while (this.#questions.length > 0) {
      const open: Question[] = [];
      for (const question of this.#questions.splice(0, mostTogether)) {
        if (question.token.isCancellationRequested) question.decide({});
        else open.push(question);
      }
      try {
        // A server that reads, sends or runs more than its command says is a question of its own.
        const plain = open.filter(({ params }) => !params.definition.warnings?.length);
        const rest = open.filter((question) => !plain.includes(question));
        const isDecided =
          (await (plain.length > 1 ? together(plain) : eachInTurn(plain))) &&
          (await eachInTurn(rest));
        // A file with a thousand servers would keep a dialog open, whatever the person does.
        if (!isDecided)
          for (const { decide } of [...open, ...this.#questions.splice(0)]) decide({});
      } catch (error) {
        for (const { fail } of open) fail(error);
      }
    }
    this.#isAsking = false;
  }
}

/** Returns false if the person dismissed the dialog. */
async function together(questions: readonly Question[]): Promise<boolean> {
  const run = vscode.l10n.t("Run Them");
  const each = vscode.l10n.t("Decide One by One");
  const refuse = vscode.l10n.t("Do Not Run Them");
  const message = vscode.l10n.t(
    "{0} MCP servers of this workspace are new or have changed. Run them?",
    questions.length,
  );
  const detail = definitionsText(questions.map(({ params }) => params));
  const decideAll = (result: ConfirmServerResult) => {
    for (const { decide } of questions) decide(result);
    return result.decision !== undefined;
  };
  switch (await showWarningMessage(message, { modal: true, detail }, run, each, refuse)) {
    case run:
      return decideAll({ decision: "allowed" });
    case each:
      return await eachInTurn(questions);
    case refuse:
      return decideAll({ decision: "refused" });
    default:
      return decideAll({});
  }
}

/** Asks one question after the other, and returns false once the person dismisses one. */
async function eachInTurn(questions: readonly Question[]): Promise<boolean> {
  for (const { params, token, decide, fail } of questions) {
    if (token.isCancellationRequested) {
      decide({});
      continue;
    }
    let answer: ConfirmServerResult | undefined;
    try {
      answer = await askOne(params);
    } catch (error) {
      fail(error);
      continue;
    }
    decide(answer ?? {});
    if (answer === undefined) return false;
  }
  return true;
}

/** Asks about one server. It returns undefined if the person dismissed the dialog. */
async function askOne(params: ConfirmServerParams): Promise<ConfirmServerResult | undefined> {
  const { source, line } = params;
  const run = vscode.l10n.t("Run It");
  const refuse = vscode.l10n.t("Do Not Run It");
  const open = vscode.l10n.t("Show Configuration");
  const asked = confirmQuestion(params);
  const detail = definitionText(params);
  switch (await showWarningMessage(asked, { modal: true, detail }, run, refuse, open)) {
    case run:
      return { decision: "allowed" };
    case refuse:
      return { decision: "refused" };
    case open:
      await openConfiguration({ source, ...(line !== undefined && { line }) });
      return {};
    default:
      return undefined;
  }
}
