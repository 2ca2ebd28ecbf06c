import type {
  CallProgressParams,
  ChatProgressParams,
  McpSamplingProgressParams,
  Message,
  OpenTaskResult,
  Task,
  TaskEventParams,
} from "@assent/protocol";
import {
  foldCallProgress,
  foldChatProgress,
  foldEvent,
  foldProgress,
  noteUnsaved,
  upsert,
} from "./fold.ts";

/** The longest page of messages. */
export const maxPage = 1000;

/** The open task, as far as it was read. */
export interface Conversation {
  readonly taskId: string;
  /** Undefined until the task was read. */
  readonly task: Task | undefined;
  /** In ascending order of id. */
  readonly messages: readonly Message[];
  /** There are older messages to load. */
  readonly earlier: boolean;
  /** The number of the newest applied event. */
  readonly lastNumber: number;
  /**
   * An event was missed: the task must be read again from after this number. Until then, events wait in `buffered`.
   */
  readonly behind: number | undefined;
  /** A page of older messages is being read. Events wait for it, because the page would undo them. */
  readonly paging: boolean;
  readonly buffered: readonly BufferedEvent[];
  /** Why the task could not be read. */
  readonly failure: string | undefined;
}

/** A notification that waits for a reading. */
export type BufferedEvent =
  | { readonly type: "taskEvent"; readonly params: TaskEventParams }
  | Progress;

/** Progress in a task. It has no event number. */
export type Progress =
  | { readonly type: "samplingProgress"; readonly params: McpSamplingProgressParams }
  | { readonly type: "callProgress"; readonly params: CallProgressParams }
  | { readonly type: "chatProgress"; readonly params: ChatProgressParams };

/** Returns the task before anything of it was read. */
export function unreadTask(taskId: string): Conversation {
  return {
    taskId,
    task: undefined,
    messages: [],
    earlier: false,
    lastNumber: 0,
    behind: 0,
    paging: false,
    buffered: [],
    failure: undefined,
  };
}

/** Applies the changes after the last event number, or the whole task. */
export function fill(open: Conversation, result: OpenTaskResult): Conversation {
  const { task, messages = [], reset = false, earlier = false } = result;
  return {
    ...open,
    task,
    messages: reset ? messages : upsert(open.messages, after(open, messages)),
    earlier: reset ? earlier : open.earlier,
    lastNumber: task.lastNumber,
    behind: undefined,
    failure: undefined,
  };
}

/** Drops messages on older pages, because those between them and the loaded ones would be missing. */
function after({ messages, earlier }: Conversation, news: readonly Message[]): readonly Message[] {
  const first = messages[0];
  return first === undefined || !earlier ? news : news.filter(({ id }) => id >= first.id);
}

/** Applies a page of older messages. Without a result, reading the page failed. */
export function fillPage(open: Conversation, result: OpenTaskResult | undefined): Conversation {
  if (result === undefined) return { ...open, paging: false };
  const { messages = [], earlier = false } = result;
  return { ...open, messages: upsert(open.messages, messages), earlier, paging: false };
}

/** Drops the messages before one. Does nothing while a page is read, because it would leave a gap. */
export function forgetBefore(open: Conversation, id: number): Conversation {
  const first = open.messages.findIndex((message) => message.id >= id);
  if (first < 1 || open.paging) return open;
  return { ...open, messages: open.messages.slice(first), earlier: true };
}

/**
 * Applies the events that were buffered during a reading. An event that does not follow the result is dropped, and the
 * next one shows the gap again.
 */
export function replay(open: Conversation): Conversation {
  if (isBuffering(open)) return open;
  return open.buffered.reduce<Conversation>(
    (now, event) => {
      const next =
        event.type === "taskEvent" ? takeEvent(now, event.params) : takeProgress(now, event);
      return isBuffering(next) ? now : next;
    },
    { ...open, buffered: [] },
  );
}

/** Reports whether a task, or a page of it, is being read. */
export function isBeingRead(conversation: Conversation | undefined): boolean {
  if (conversation === undefined) return false;
  const { behind, failure, paging } = conversation;
  return (behind !== undefined && failure === undefined) || paging;
}

export function countRunningCalls(conversation: Conversation | undefined): number {
  const messages = conversation?.messages ?? [];
  return messages.filter(({ body }) => body.type === "call" && body.result === undefined).length;
}

function isBuffering(open: Conversation): boolean {
  return open.behind !== undefined || open.paging;
}

function buffer(open: Conversation, event: BufferedEvent): Conversation {
  return { ...open, buffered: [...open.buffered, event] };
}

/** Applies an event, or buffers it while the task is read. A gap makes the task be read again. */
export function takeEvent(open: Conversation, params: TaskEventParams): Conversation {
  const { number, openAsks, event, unsaved = false } = params;
  if (isBuffering(open)) return buffer(open, { type: "taskEvent", params });
  if (number <= open.lastNumber) return open;
  if (number > open.lastNumber + 1) {
    return buffer({ ...open, behind: open.lastNumber }, { type: "taskEvent", params });
  }
  const task = event.type === "taskChanged" ? event.task : open.task;
  return {
    ...open,
    task: task && { ...task, openAsks, lastNumber: number },
    messages: noteUnsaved(foldEvent(open.messages, event), event, unsaved),
    lastNumber: number,
  };
}

/** Applies progress. Each reading of the task includes the progress so far. */
export function takeProgress(open: Conversation, progress: Progress): Conversation {
  if (isBuffering(open)) return buffer(open, progress);
  if (progress.type === "callProgress") {
    return { ...open, messages: foldCallProgress(open.messages, progress.params) };
  }
  const messages =
    progress.type === "chatProgress"
      ? foldChatProgress(open.messages, progress.params)
      : foldProgress(open.messages, progress.params);
  return messages === "gap" ? { ...open, behind: open.lastNumber } : { ...open, messages };
}
