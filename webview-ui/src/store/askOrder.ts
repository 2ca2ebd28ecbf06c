import type { OpenAsk, UnclaimedAsk } from "@assent/protocol";
import type { Inbox } from "./asks.ts";
import { openAsksOf } from "./openAsks.ts";
import type { Conversation } from "./openTask.ts";
import type { State } from "./state.ts";
import { otherTasksWaiting } from "./tasks.ts";

/** Where an ask is in the order of the inbox. */
export interface AskPlace extends Pick<OpenAsk, "time" | "taskId" | "messageId"> {
  /** Absent if it is that of the panel. */
  readonly workspace?: string | undefined;
}

/** A place of the inbox at which one can stop. */
export interface AskStop extends AskPlace {
  readonly askId: string;
  /** It is in no task, and is shown in the inbox itself. */
  readonly unclaimed: boolean;
}

/** Returns everything in the inbox that waits here, in the order in which it came. */
export function stopsOf({ entries = [], unclaimed }: Inbox): readonly AskStop[] {
  return [
    ...entries.map((entry) => ({ ...entry, unclaimed: false })),
    ...unclaimed.map(unclaimedStop),
  ].toSorted(compareAsks);
}

/** Where something is that has no task. */
export function unclaimedStop({ id, time, workspace }: UnclaimedAsk): AskStop {
  return { time, workspace, taskId: id, messageId: 0, askId: id, unclaimed: true };
}

/** The order of the inbox, the same as the sidecar's: the oldest first, and those of other workspaces last. */
export function compareAsks(a: AskPlace, b: AskPlace): number {
  const [of = "", other = ""] = [a.workspace, b.workspace];
  if (of !== other) return of < other ? -1 : 1;
  if (a.time !== b.time) return a.time - b.time;
  if (a.taskId !== b.taskId) return a.taskId < b.taskId ? -1 : 1;
  return a.messageId - b.messageId;
}

/**
 * The ask after a place, or before it, going round. The place itself may be settled by now; without
 * one, it begins with the oldest, or the newest.
 */
export function stepFrom<Stop extends AskPlace>(
  entries: readonly Stop[],
  at: AskPlace | undefined,
  direction: "next" | "previous",
): Stop | undefined {
  if (direction === "next") {
    const after = at && entries.find((entry) => compareAsks(entry, at) > 0);
    return after ?? entries[0];
  }
  const before = at && entries.findLast((entry) => compareAsks(entry, at) < 0);
  return before ?? entries.at(-1);
}

/** A task's asks in the inbox. */
export interface AsksOfTask {
  /** Absent if it is that of the panel. */
  readonly workspace: string | undefined;
  readonly taskId: string;
  readonly title: string;
  readonly asks: readonly OpenAsk[];
}

/** Groups the asks by task. The task with the oldest question comes first. */
export function byTask(entries: readonly OpenAsk[]): readonly AsksOfTask[] {
  const groups = new Map<string, OpenAsk[]>();
  for (const entry of entries) {
    const group = groups.get(entry.taskId);
    if (group === undefined) groups.set(entry.taskId, [entry]);
    else group.push(entry);
  }
  return [...groups].map(([taskId, asks]) => ({
    workspace: asks[0]?.workspace,
    taskId,
    title: asks[0]?.title ?? "",
    asks,
  }));
}

/** Returns the place of an ask in the inbox, or of one that was settled. */
export function placeOfAsk(
  { inbox, conversation }: State,
  askId: string | undefined,
): AskPlace | undefined {
  const unclaimed = inbox.unclaimed.find(({ id }) => id === askId);
  if (unclaimed !== undefined) return unclaimedStop(unclaimed);
  const entry = inbox.entries?.find((ask) => ask.askId === askId);
  if (entry !== undefined || conversation === undefined) return entry;
  const { taskId, messages } = conversation;
  const message = messages.find(({ body }) => body.type === "ask" && body.askId === askId);
  const workspace = conversation.task?.workspace;
  return message && { workspace, taskId, messageId: message.id, time: message.time };
}

/** Returns the open asks of the open task on pages that were not read, the oldest first. */
export function olderAsks({ inbox, conversation }: State): readonly AskStop[] {
  if (conversation === undefined) return [];
  return stopsOf(inbox).filter(
    (stop) =>
      !stop.unclaimed && stop.taskId === conversation.taskId && isOnOlderPage(stop, conversation),
  );
}

/** Reports whether an ask of the open task is on a page that was not read. */
export function isOnOlderPage({ messageId }: AskPlace, { messages }: Conversation): boolean {
  const oldest = messages[0];
  return oldest !== undefined && messageId < oldest.id;
}

/** How many asks wait, by where they are. */
export interface Waiting {
  /** In the open task, also those on older pages. */
  readonly here: number;
  readonly inOtherTasks: number;
  /** In no task. */
  readonly unclaimed: number;
  /** In tasks of other workspaces that are not open. */
  readonly inOtherWorkspaces: number;
}

export function countWaiting(state: State): Waiting {
  const { inbox, conversation } = state;
  const others = inbox.entries?.filter(
    ({ workspace, taskId }) => workspace !== undefined && taskId !== conversation?.taskId,
  );
  return {
    here: Math.max(openAsksOf(conversation).length, conversation?.task?.openAsks ?? 0),
    inOtherTasks: otherTasksWaiting(state).reduce((sum, { openAsks }) => sum + openAsks, 0),
    unclaimed: inbox.unclaimed.length,
    inOtherWorkspaces: others?.length ?? 0,
  };
}
