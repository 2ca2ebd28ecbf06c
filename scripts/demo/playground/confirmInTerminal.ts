import { createInterface } from "node:readline/promises";
import type { ConfirmServerParams, ConfirmServerResult } from "@assent/protocol";
import type { CancellationToken } from "vscode-jsonrpc/node";
import { definitionText } from "../../../extension/src/definitionText.ts";

/** The last question. The next one waits for it, because one at a time has the terminal. */
let last: Promise<unknown> = Promise.resolve();

/** Asks in the demo's terminal, because a page in a browser does not prove who answers. */
export function confirmInTerminal(
  params: ConfirmServerParams,
  token: CancellationToken,
): Promise<ConfirmServerResult> {
  const inTurn = last.then(() => ask(params, token));
  last = inTurn.catch(() => undefined);
  return inTurn;
}

async function ask(
  params: ConfirmServerParams,
  token: CancellationToken,
): Promise<ConfirmServerResult> {
  if (!process.stdin.isTTY || token.isCancellationRequested) return {};
  const ended = new AbortController();
  const listening = token.onCancellationRequested(() => ended.abort());
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // The terminal no longer turns Ctrl-C into the signal that ends the demo.
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    console.log(
      `\nThe MCP server ${params.serverName} is new or has changed:\n${definitionText(params)}`,
    );
    const { signal } = ended;
    const answer = await terminal.question("Run it? (yes, no) ", { signal });
    if (/^y(es)?$/i.test(answer.trim())) return { decision: "allowed" };
    return /^no?$/i.test(answer.trim()) ? { decision: "refused" } : {};
  } catch (error) {
    // The request was cancelled, or the person pressed Ctrl-D.
    if (error instanceof Error && error.name === "AbortError") return {};
    throw error;
  } finally {
    listening.dispose();
    terminal.close();
  }
}
