import type { OpenTaskResult, Task, TaskEventParams } from "@assent/protocol";
import { type Client, messageOf } from "../link/client.ts";
import { takeAskEvent } from "./asks.ts";
import { takeMcpTaskEvent } from "./mcpTasks.ts";
import {
  type Conversation,
  fill,
  fillPage,
  forgetBefore,
  maxPage,
  type Progress,
  replay,
  takeEvent,
  takeProgress,
  unreadTask,
} from "./openTask.ts";
import type { Change, State } from "./state.ts";
import type { Store } from "./store.ts";
import { taskUpserted } from "./tasks.ts";

export interface ConversationState {
  /** The open task. */
  readonly conversation: Conversation | undefined;
}

declare module "./state.ts" {
  interface State extends ConversationState {}
}

export const initialConversation: ConversationState = { conversation: undefined };

/** The shortest page, which is the sidecar's default, in messages. */
const minPage = 200;

/** Opens a task, or none. The task is not loaded yet. */
export function taskSelected(taskId: string | undefined): Change {
  return (state) => {
    if (taskId === state.conversation?.taskId) return state;
    return { ...state, conversation: taskId === undefined ? undefined : unreadTask(taskId) };
  };
}

/** Marks a task for rereading, because its state is wrong and later events would not correct it. */
export function taskInvalidated(taskId: string): Change {
  return inTask(taskId, (open) => ({ ...open, behind: 0, failure: undefined }));
}

/** Applies the changes after the last event number, or the whole task. */
export function taskRead(taskId: string, result: OpenTaskResult): Change {
  return (state) => {
    const read = inTask(taskId, (open) => replay(fill(open, result)))(state);
    return taskUpserted(result.task)(read);
  };
}

export function pageRequested(taskId: string): Change {
  return inTask(taskId, (open) => ({ ...open, paging: true }));
}

/** Applies a page of older messages. Without a result, reading the page failed. */
export function pageRead(taskId: string, result?: OpenTaskResult): Change {
  return inTask(taskId, (open) => replay(fillPage(open, result)));
}

/** Drops the messages before one. */
export function pagesForgotten(taskId: string, before: number): Change {
  return inTask(taskId, (open) => forgetBefore(open, before));
}

/** Applies an event of any task. */
export function taskEvent(params: TaskEventParams): Change {
  return (state) => {
    const { taskId, number, openAsks, event, workspace } = params;
    const next = inTask(taskId, (open) => takeEvent(open, params))(state);
    // These lists are of this workspace. Other workspaces' inbox changes arrive separately.
    if (workspace !== undefined) {
      return event.type === "taskChanged" ? taskUpserted(event.task)(next) : next;
    }
    const isIt = ({ id }: Task) => id === taskId;
    const known = state.tasks?.find(isIt) ?? state.deletedTasks.find(isIt);
    const task = event.type === "taskChanged" ? event.task : known;
    const folded: State = {
      ...next,
      inbox: takeAskEvent(state.inbox, params, known),
      mcpTasks: takeMcpTaskEvent(state.mcpTasks, params),
    };
    if (task === undefined) {
      return { ...folded, tasksMissed: state.tasksMissed || state.tasks !== undefined };
    }
    if (known !== undefined && number <= known.lastNumber) return folded;
    return taskUpserted({ ...task, openAsks, lastNumber: number })(folded);
  };
}

export function progressed(progress: Progress): Change {
  return inTask(progress.params.taskId, (open) => takeProgress(open, progress));
}

/** Changes the open task if it is this one. */
function inTask(taskId: string, edit: (open: Conversation) => Conversation): Change {
  return (state) => {
    const { conversation } = state;
    if (conversation?.taskId !== taskId) return state;
    return { ...state, conversation: edit(conversation) };
  };
}

export type ConversationActions = ReturnType<typeof createConversation>["actions"];

/** Reads the open task, and listens to its events. */
export function createConversation(store: Store) {
  const { request, attempt, view } = store;
  let catchingUp = false;
  store.afterEvents(catchUp);

  function select(taskId: string | undefined): void {
    store.update(taskSelected(taskId));
    if (taskId !== undefined && taskId !== view.get().openTaskId) {
      view.update(({ place: _left, ...kept }) => ({ ...kept, openTaskId: taskId }));
    }
    catchUp();
  }

  /** Reads the open task until it is up to date, one reading at a time. */
  function catchUp(): void {
    if (catchingUp) return;
    catchingUp = true;
    void (async () => {
      for (let open = missing(store.state); open !== undefined; open = missing(store.state)) {
        const { taskId, after } = open;
        try {
          store.update(taskRead(taskId, await request("task/open", { taskId, after })));
        } catch (error) {
          store.update(inTask(taskId, (now) => ({ ...now, failure: messageOf(error) })));
        }
      }
      catchingUp = false;
    })();
  }

  function readAgain(taskId: string): void {
    store.onEvent(taskInvalidated(taskId));
  }

  async function loadEarlier(messageId?: number): Promise<void> {
    const open = store.state.conversation;
    const first = open?.messages[0];
    if (open === undefined || first === undefined || open.paging) return;
    const { taskId } = open;
    store.update(pageRequested(taskId));
    try {
      const limit = messageId === undefined ? undefined : pageTo(first.id - messageId);
      const params = { taskId, before: first.id, ...(limit !== undefined && { limit }) };
      store.update(pageRead(taskId, await request("task/open", params)));
    } catch (error) {
      store.update(pageRead(taskId));
      throw error;
    }
  }

  return {
    select,
    readAgain,
    listen(client: Client): void {
      const hear = (progress: Progress) => store.onEvent(progressed(progress));
      client.onNotification("task/event", (params) => store.onEvent(taskEvent(params)));
      client.onNotification("mcpSamplingProgress", (params) =>
        hear({ type: "samplingProgress", params }),
      );
      client.onNotification("callProgress", (params) => hear({ type: "callProgress", params }));
      client.onNotification("chat/progress", (params) => hear({ type: "chatProgress", params }));
    },
    actions: {
      openTask: (taskId: string): void => select(taskId),
      /** Reads the open task again after a failure. */
      retryTask: readAgain,
      /** Reads a page of older messages. With a message, the page reaches back to it, within limits. */
      loadEarlier: (messageId?: number): void => attempt(() => loadEarlier(messageId)),
      /** Drops the messages before one. They are loaded again when the person scrolls to them. */
      forgetEarlier(messageId: number): void {
        const taskId = store.state.conversation?.taskId;
        if (taskId !== undefined) store.update(pagesForgotten(taskId, messageId));
      },
    },
  };
}

/** Returns what must be read of the open task; undefined after a failure. */
function missing({ conversation: open }: State) {
  if (open?.behind === undefined || open.failure !== undefined) return undefined;
  return { taskId: open.taskId, after: open.behind };
}

/** Returns the length of a page that reaches this many messages back, with some more for context. */
function pageTo(back: number): number {
  return Math.min(Math.max(back + 50, minPage), maxPage);
}
