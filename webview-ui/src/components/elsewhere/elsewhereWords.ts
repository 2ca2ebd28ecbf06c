import type { Elsewhere, Message } from "@assent/protocol";
import { findOpenAsks } from "../chat/openAsks.ts";
import { count } from "../ui/words.ts";

/** The window that a task is in, or was, as it is called in a sentence. */
function named({ window }: Elsewhere): string {
  return window === "" ? "" : `: ${window}`;
}

/** Where a task is that is not live here; moved says that it was, under the person's eyes. */
export function whereItIs(elsewhere: Elsewhere, moved: boolean): string {
  if (elsewhere.gone === true) {
    const was = elsewhere.window === "" ? "" : ` (${elsewhere.window})`;
    return `Its window${was} is gone; what it was doing waits.`;
  }
  return moved
    ? `This task has moved to another window${named(elsewhere)}.`
    : `Live in another window${named(elsewhere)}.`;
}

/** Why the open task cannot be changed here. */
export function whyNot({ gone }: Elsewhere): string {
  return gone === true
    ? "This task waits for its window. Continue it here to use a server in it."
    : "This task is live in another window. Continue it here to use a server in it.";
}

/** The same in a list, in few words. */
export function mark({ gone }: Elsewhere): string {
  return gone === true ? "its window is gone" : "in another window";
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
  const ending = [
    ...(asks > 0 ? [count(asks, "question")] : []),
    ...(calls > 0 ? [count(calls, "call")] : []),
  ].join(" and ");
  const one = asks + calls === 1;
  const why = gone === true ? "went with that window" : "waits for that window";
  const sentences = [
    ...(along > 0
      ? [`${count(along, "question")} ${along === 1 ? "comes" : "come"} along, with what was typed`]
      : []),
    ...(ending === "" ? [] : [`${ending} ${one ? "ends" : "end"}, because the server ${why}`]),
  ];
  return sentences.length === 0 ? undefined : `If you continue here: ${sentences.join("; ")}.`;
}
