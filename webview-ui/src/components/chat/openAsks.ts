import type { Ask, Task } from "@assent/protocol";
import type { Conversation, State } from "../../state/state.ts";

/** The asks of the open task that wait for the person, the oldest first. */
export function openAsksOf(conversation: Conversation | undefined): readonly Ask[] {
  return (conversation?.messages ?? []).flatMap(({ body }) =>
    body.type === "ask" && body.outcome === undefined ? [body] : [],
  );
}

/** The other tasks with asks, the oldest task first. */
export function waitingElsewhere({ tasks = [], conversation }: State): readonly Task[] {
  return tasks
    .filter(({ id, openAsks }) => openAsks > 0 && id !== conversation?.taskId)
    .toReversed();
}
