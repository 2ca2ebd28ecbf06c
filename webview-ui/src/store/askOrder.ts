import type { OpenAsk, UnattributedAsk } from "@assent/protocol";
import type { Inbox } from "./asks.ts";
import { openAsksOf } from "./openAsks.ts";
import type { Conversation } from "./openTask.ts";
import type { State } from "./state.ts";
import { otherTasksWaiting } from "./tasks.ts";

/** The position of an ask in the inbox. */
export interface AskPlace extends Pick<OpenAsk, "time" | "taskId" | "messageId"> {
  /** Undefined if it is the panel's own workspace. */
  readonly workspace?: string | undefined;
}

/** A position in the inbox where one can stop. */
export interface AskStop extends AskPlace {
  readonly askId: string;
  /** It belongs to no task, and is shown in the inbox itself. */
  readonly unattributed: boolean;
}

/** Returns everything that waits in this workspace, in the order of arrival. */
export function stopsOf({ entries = [], unattributed }: Inbox): readonly AskStop[] {
  return [
    ...entries.map((entry) => ({ ...entry, unattributed: false })),
    ...unattributed.map(unattributedStop),
  ].toSorted(compareAsks);
}

/** The position of an unattributed request. */
function unattributedStop({ id, time, workspace }: UnattributedAsk): AskStop {
  return { time, workspace, taskId: id, messageId: 0, askId: id, unattributed: true };
}

/** The order of the inbox, the same as the sidecar's: oldest first, other workspaces last. */
function compareAsks(a: AskPlace, b: AskPlace): number {
  const [of = "", other = ""] = [a.workspace, b.workspace];
  if (of !== other) return of < other ? -1 : 1;
  if (a.time !== b.time) return a.time - b.time;
  if (a.taskId !== b.taskId) return a.taskId < b.taskId ? -1 : 1;
  return a.messageId - b.messageId;
}

/**
 * Returns the ask after or before a position, in a circle. The ask at the position may be settled by now. Without a
 * position, it starts with the oldest or the newest ask.
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
  /** Undefined if it is the panel's own workspace. */
  readonly workspace: string | undefined;
  readonly taskId: string;
  readonly title: string;
  readonly asks: readonly OpenAsk[];
}

/** Groups the asks by task. The task with the oldest ask comes first. */
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

/** Returns the position of an ask in the inbox, which may be settled. */
export function placeOfAsk(
  { inbox, conversation }: State,
  askId: string | undefined,
): AskPlace | undefined {
  const unattributed = inbox.unattributed.find(({ id }) => id === askId);
  if (unattributed !== undefined) return unattributedStop(unattributed);
  const entry = inbox.entries?.find((ask) => ask.askId === askId);
  if (entry !== undefined || conversation === undefined) return entry;
  const { taskId, messages } = conversation;
  const message = messages.find(({ body }) => body.type === "ask" && body.askId === askId);
  const workspace = conversation.task?.workspace;
  return message && { workspace, taskId, messageId: message.id, time: message.time };
}

/** Returns the open asks of the open task on pages that are not loaded, oldest first. */
export function olderAsks({ inbox, conversation }: State): readonly AskStop[] {
  if (conversation === undefined) return [];
  return stopsOf(inbox).filter(
    (stop) =>
      !stop.unattributed &&
      stop.taskId === conversation.taskId &&
      isOnOlderPage(stop, conversation),
  );
}

/** Reports whether an ask of the open task is on a page that is not loaded. */
export function isOnOlderPage({ messageId }: AskPlace, { messages }: Conversation): boolean {
  const oldest = messages[0];
  return oldest !== undefined && messageId < oldest.id;
}

/** The number of open asks, by place. */
export interface Waiting {
  /** In the open task, including those on older pages. */
  readonly here: number;
  readonly inOtherTasks: number;
  /** In no task. */
  readonly unattributed: number;
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
    unattributed: inbox.unattributed.length,
    inOtherWorkspaces: others?.length ?? 0,
  };
}
