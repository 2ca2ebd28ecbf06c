import type { Elsewhere, Message } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { listed, plural } from "../../l10n.ts";
import { findOpenAsks } from "../chat/openAsks.ts";

/** Where a task is that is not live here; moved says that it was, under the person's eyes. */
export function whereItIs(elsewhere: Elsewhere, moved: boolean): string {
  const { window, gone } = elsewhere;
  if (gone === true) {
    return window === ""
      ? l10n.t("Its window is gone; what it was doing waits.")
      : l10n.t("Its window ({0}) is gone; what it was doing waits.", window);
  }
  if (window === "") {
    return moved
      ? l10n.t("This task has moved to another window.")
      : l10n.t("Live in another window.");
  }
  return moved
    ? l10n.t("This task has moved to another window: {0}.", window)
    : l10n.t("Live in another window: {0}.", window);
}

/** Why the open task cannot be changed here. */
export function whyNot({ gone }: Elsewhere): string {
  return gone === true
    ? l10n.t("This task waits for its window. Continue it here to use a server in it.")
    : l10n.t("This task is live in another window. Continue it here to use a server in it.");
}

/** The same in a list, in few words. */
export function mark({ gone }: Elsewhere): string {
  return gone === true ? l10n.t("its window is gone") : l10n.t("in another window");
}

/**
 * What becomes of the questions and calls of a task that is continued here; absent where it has none. What
 * has a name of its own (an MCP task, a question in a result) comes along. The rest is a request that a
 * server waits for on its connection to the other window.
 */
export function whatBecomesOf(
  messages: readonly Message[],
  { gone }: Elsewhere,
): string | undefined {
  const keys = findOpenAsks(messages).map(({ ask }) => ask.inputKey);
  const along = keys.filter((key) => key !== undefined).length;
  const calls = messages.filter(
    ({ id, body }) =>
      body.type === "call" &&
      body.result === undefined &&
      body.task === undefined &&
      !keys.some((key) => key?.startsWith(`\0${id}\0`)),
  ).length;
  const asks = keys.length - along;
  const sentences = [
    ...(along === 0 ? [] : [comesAlong(along)]),
    ...(asks + calls === 0 ? [] : [ends(asks, calls, gone === true)]),
  ];
  return sentences.length === 0
    ? undefined
    : l10n.t("If you continue here: {0}.", sentences.join("; "));
}

function comesAlong(asks: number): string {
  return plural(
    asks,
    l10n.t("1 question comes along, with what was typed"),
    l10n.t("{0} questions come along, with what was typed"),
  );
}

function ends(asks: number, calls: number, gone: boolean): string {
  const what = listed([
    ...(asks === 0 ? [] : [plural(asks, l10n.t("1 question"), l10n.t("{0} questions"))]),
    ...(calls === 0 ? [] : [plural(calls, l10n.t("1 call"), l10n.t("{0} calls"))]),
  ]);
  if (asks + calls === 1) {
    return gone
      ? l10n.t("{0} ends, because the server went with that window", what)
      : l10n.t("{0} ends, because the server waits for that window", what);
  }
  return gone
    ? l10n.t("{0} end, because the server went with that window", what)
    : l10n.t("{0} end, because the server waits for that window", what);
}
