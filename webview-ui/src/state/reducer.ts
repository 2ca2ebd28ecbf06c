import type { Message, OpenTaskResult, Server, Task, TaskEventParams } from "@assent/protocol";
import type { SidecarStatus } from "@assent/protocol/host";
import { unreachable } from "../unreachable.ts";
import {
  foldCallProgress,
  foldChatProgress,
  foldEvent,
  foldProgress,
  noteUnsaved,
  saved,
  upsert,
} from "./fold.ts";
import { takeGrant, takeGrants } from "./grants.ts";
import { takeAskEvent } from "./inbox.ts";
import { withInspection } from "./inspections.ts";
import { takeMcpTaskEvent } from "./mcpTasks.ts";
import { afterChange } from "./offers.ts";
import type { Action, Conversation, Held, State } from "./state.ts";

/** Returns the state after an action. The panel has this one reducer. */
export function reduce(state: State, action: Action): State {
  switch (action.type) {
    case "linkUp":
      return { ...state, link: { up: true } };
    case "linkDown":
      return { ...state, link: { up: false, retryInMs: action.retryInMs } };
    case "hostReady": {
      const { imports, picksFiles, setsUp } = action;
      return { ...state, imports, picksFiles, setsUp };
    }
    case "sidecarStatus":
      return withStatus(state, action.status);
    case "reveal":
      return { ...state, reveal: action.reveal };
    case "revealed":
      return { ...state, reveal: undefined };
    case "settingsTold":
      return { ...state, settings: action.settings };
    case "pagesAsked":
      return { ...state, pages: action.pages };
    case "tasksListed":
      return takeTasks(state, action.tasks, action.deleted ?? []);
    case "taskKnown":
      return withTask(state, action.task);
    case "taskDeleted":
      return { ...withTask(state, action.task), deletedHere: action.task };
    case "deletionDone":
      return { ...state, deletedHere: undefined };
    case "taskSelected":
      return { ...state, conversation: select(state.conversation, action.taskId) };
    case "taskDoubted":
      return withConversation(state, action.taskId, (open) => ({
        ...open,
        behind: 0,
        failure: undefined,
      }));
    case "taskRead": {
      const { taskId, result } = action;
      const read = withConversation(state, taskId, (open) => replay(fill(open, result)));
      return withTask(read, result.task);
    }
    case "taskReadFailed":
      return withConversation(state, action.taskId, (open) => ({
        ...open,
        failure: action.message,
      }));
    case "pageAsked":
      return withConversation(state, action.taskId, (open) => ({ ...open, paging: true }));
    case "pageRead":
      return withConversation(state, action.taskId, (open) =>
        replay(fillPage(open, action.result)),
      );
    case "pagesForgotten":
      return withConversation(state, action.taskId, (open) => forgetBefore(open, action.before));
    case "taskEvent":
      return withEvent(state, action.params);
    case "samplingProgress":
    case "callProgress":
    case "chatProgress":
      return withConversation(state, action.params.taskId, (open) => takeProgress(open, action));
    case "inboxDoubted":
      return { ...state, inbox: { ...state.inbox, missed: true } };
    case "inboxAsked":
      return { ...state, inbox: { ...state.inbox, reading: true, missed: false } };
    case "inboxListed": {
      const {
        asks: entries = [],
        unclaimed = [],
        declined = [],
        truncated = false,
        notAnswering = [],
      } = action.result;
      const { missed } = state.inbox;
      return {
        ...state,
        inbox: {
          entries,
          unclaimed,
          declined,
          truncated,
          notAnswering,
          reading: false,
          missed,
          failure: undefined,
        },
      };
    }
    case "inboxListFailed":
      return { ...state, inbox: { ...state.inbox, reading: false, failure: action.message } };
    case "mcpTasksDoubted":
      return { ...state, mcpTasks: { ...state.mcpTasks, missed: true } };
    case "mcpTasksPageWanted":
      return {
        ...state,
        mcpTasks: { ...state.mcpTasks, pages: state.mcpTasks.pages + 1, missed: true },
      };
    case "mcpTasksAsked":
      return { ...state, mcpTasks: { ...state.mcpTasks, reading: true, missed: false } };
    case "mcpTasksListed": {
      const { entries, more } = action;
      return {
        ...state,
        mcpTasks: { ...state.mcpTasks, entries, more, reading: false, failure: undefined },
      };
    }
    case "mcpTasksListFailed":
      return {
        ...state,
        mcpTasks: { ...state.mcpTasks, reading: false, failure: action.message },
      };
    case "serverMcpTasksAsked":
      return { ...state, serverMcpTasks: { ...state.serverMcpTasks, reading: true } };
    case "serverMcpTasksListed": {
      const { result } = action;
      return { ...state, serverMcpTasks: { listed: result, reading: false, failure: undefined } };
    }
    case "serverMcpTasksListFailed": {
      const { message } = action;
      return {
        ...state,
        serverMcpTasks: { ...state.serverMcpTasks, reading: false, failure: message },
      };
    }
    case "grantsAsked":
      return { ...state, grants: { ...state.grants, news: [], failure: undefined } };
    case "grantsListed":
      return { ...state, grants: takeGrants(state.grants, action.grants) };
    case "grantsListFailed":
      return { ...state, grants: { ...state.grants, news: undefined, failure: action.message } };
    case "grantChanged":
      return { ...state, grants: takeGrant(state.grants, action.grant) };
    case "toolRulesListed":
      return { ...state, toolRules: { entries: action.rules, failure: undefined } };
    case "toolRulesListFailed":
      return { ...state, toolRules: { ...state.toolRules, failure: action.message } };
    case "serversListed":
      return {
        ...state,
        servers: action.params.servers ?? [],
        problems: action.params.problems ?? [],
      };
    case "serverChanged":
      return withServer(state, action.server);
    case "inspectionAsked":
      return withInspection(state, action.serverName, { reading: true });
    case "inspectionRead": {
      const { serverName, result } = action;
      return withInspection(state, serverName, { result, reading: false, failure: undefined });
    }
    case "inspectionFailed": {
      const { serverName, message } = action;
      return withInspection(state, serverName, { reading: false, failure: message });
    }
    case "offersChanged": {
      const { serverName, offers } = action;
      const known = state.offers.get(serverName);
      return { ...state, offers: new Map(state.offers).set(serverName, { ...known, ...offers }) };
    }
    case "modelsListed":
      return {
        ...state,
        models: new Map(state.models).set(
          action.workspace,
          new Map(state.models.get(action.workspace)).set(action.serverName, action.listed),
        ),
      };
    case "storageFailed":
      return { ...state, storageFailure: action.message };
    case "storageRecovered":
      return {
        ...state,
        conversation: state.conversation && recovered(state.conversation),
        storageFailure: undefined,
        storageNote: { message: action.message, dismissed: false },
      };
    case "storageNoted":
      // It is said at every reading, and read once.
      if (state.storageNote?.message === action.message) return state;
      return { ...state, storageNote: { message: action.message, dismissed: false } };
    case "storageNoteDismissed":
      if (state.storageNote === undefined) return state;
      return { ...state, storageNote: { ...state.storageNote, dismissed: true } };
    case "failed":
      return { ...state, failure: action.message };
    case "failureDismissed":
      return { ...state, failure: undefined };
    default:
      return unreachable(action);
  }
}

/**
 * Takes in the sidecar's status. A sidecar that starts is asked for everything; the open task is read from its last
 * event on. The store's state and the servers' offers of the earlier sidecar are dropped.
 */
function withStatus(state: State, status: SidecarStatus): State {
  const { conversation } = state;
  if (status.state !== "running") return { ...state, sidecar: status };
  return {
    ...state,
    sidecar: status,
    // Known tasks stay in sight until the sidecar says something about them.
    tasks: state.tasks?.map((task) => ({ ...task, lastNumber: 0 })),
    // It may have removed these for good.
    deletedTasks: [],
    deletedHere: undefined,
    inbox: { ...state.inbox, missed: true },
    mcpTasks: { ...state.mcpTasks, missed: true },
    // No server runs yet that could be asked.
    serverMcpTasks: { ...state.serverMcpTasks, listed: undefined, failure: undefined },
    storageFailure: undefined,
    storageNote: undefined,
    models: new Map(),
    offers: new Map(),
    inspections: new Map(),
    conversation: conversation && {
      ...conversation,
      behind: conversation.lastNumber,
      held: [],
      failure: undefined,
    },
  };
}

function select(
  open: Conversation | undefined,
  taskId: string | undefined,
): Conversation | undefined {
  if (taskId === undefined) return undefined;
  if (taskId === open?.taskId) return open;
  return {
    taskId,
    task: undefined,
    messages: [],
    earlier: false,
    lastNumber: 0,
    behind: 0,
    paging: false,
    held: [],
    failure: undefined,
  };
}

/** Takes in the changes after the last number, or the whole task. */
function fill(open: Conversation, result: OpenTaskResult): Conversation {
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

/** Drops the messages before one. It does nothing while a page is read, which would not join the rest. */
function forgetBefore(open: Conversation, id: number): Conversation {
  const first = open.messages.findIndex((message) => message.id >= id);
  if (first < 1 || open.paging) return open;
  return { ...open, messages: open.messages.slice(first), earlier: true };
}

function fillPage(open: Conversation, result: OpenTaskResult | undefined): Conversation {
  if (result === undefined) return { ...open, paging: false };
  const { messages = [], earlier = false } = result;
  return { ...open, messages: upsert(open.messages, messages), earlier, paging: false };
}

/**
 * Takes in the events that were held during a reading. An event that does not follow the result is dropped, and the
 * next one shows the gap again.
 */
function replay(open: Conversation): Conversation {
  if (isHolding(open)) return open;
  return open.held.reduce<Conversation>(
    (now, held) => {
      const next =
        held.type === "taskEvent" ? takeEvent(now, held.params) : takeProgress(now, held);
      return isHolding(next) ? now : next;
    },
    { ...open, held: [] },
  );
}

/** Takes in that everything is on disk, the held changes too. */
function recovered(open: Conversation): Conversation {
  return {
    ...open,
    messages: saved(open.messages),
    held: open.held.map((held) =>
      held.type === "taskEvent" ? { ...held, params: { ...held.params, unsaved: false } } : held,
    ),
  };
}

function isHolding(open: Conversation): boolean {
  return open.behind !== undefined || open.paging;
}

function hold(open: Conversation, held: Held): Conversation {
  return { ...open, held: [...open.held, held] };
}

function takeEvent(open: Conversation, params: TaskEventParams): Conversation {
  const { number, openAsks, event, unsaved = false } = params;
  if (isHolding(open)) return hold(open, { type: "taskEvent", params });
  if (number <= open.lastNumber) return open;
  if (number > open.lastNumber + 1) {
    return hold({ ...open, behind: open.lastNumber }, { type: "taskEvent", params });
  }
  const task = event.type === "taskChanged" ? event.task : open.task;
  return {
    ...open,
    task: task && { ...task, openAsks, lastNumber: number },
    messages: noteUnsaved(foldEvent(open.messages, event), event, unsaved),
    lastNumber: number,
  };
}

/** Takes in progress, which has no event number. Each reading brings the progress so far. */
function takeProgress(
  open: Conversation,
  held: Exclude<Held, { readonly type: "taskEvent" }>,
): Conversation {
  if (isHolding(open)) return hold(open, held);
  if (held.type === "callProgress") {
    return { ...open, messages: foldCallProgress(open.messages, held.params) };
  }
  const messages =
    held.type === "chatProgress"
      ? foldChatProgress(open.messages, held.params)
      : foldProgress(open.messages, held.params);
  return messages === "gap" ? { ...open, behind: open.lastNumber } : { ...open, messages };
}

function withEvent(state: State, params: TaskEventParams): State {
  const { taskId, number, openAsks, event, workspace } = params;
  // The lists are of this workspace, and what changes in the inbox of others is told apart.
  if (workspace !== undefined) {
    const next = withConversation(state, taskId, (open) => takeEvent(open, params));
    return event.type === "taskChanged" ? withTask(next, event.task) : next;
  }
  const isIt = ({ id }: Task) => id === taskId;
  const known = state.tasks?.find(isIt) ?? state.deletedTasks.find(isIt);
  const task = event.type === "taskChanged" ? event.task : known;
  const folded = {
    ...withConversation(state, taskId, (open) => takeEvent(open, params)),
    inbox: takeAskEvent(state.inbox, params, known),
    mcpTasks: takeMcpTaskEvent(state.mcpTasks, params),
  };
  if (task === undefined) {
    return { ...folded, tasksMissed: state.tasksMissed || state.tasks !== undefined };
  }
  if (known !== undefined && number <= known.lastNumber) return folded;
  return withTask(folded, { ...task, openAsks, lastNumber: number });
}

function withConversation(
  state: State,
  taskId: string,
  edit: (open: Conversation) => Conversation,
): State {
  const { conversation } = state;
  if (conversation?.taskId !== taskId) return state;
  return { ...state, conversation: edit(conversation) };
}

/**
 * Replaces a task in the list, or puts a new one first. An older version never replaces a newer one. A task of another
 * workspace is in no list.
 */
function withTask(state: State, task: Task): State {
  const { tasks, deletedTasks, conversation, deletedHere, mcpTasks } = state;
  if (task.workspace !== undefined) {
    const gone = task.deletedAt !== undefined && conversation?.taskId === task.id;
    return gone ? { ...state, conversation: undefined } : state;
  }
  const isIt = ({ id }: Task) => id === task.id;
  const known = tasks?.find(isIt) ?? deletedTasks.find(isIt);
  if (known !== undefined && known.lastNumber > task.lastNumber) return state;
  const others = deletedTasks.filter((other) => !isIt(other));
  // The list of MCP tasks has none of deleted tasks.
  const moved = (known?.deletedAt === undefined) !== (task.deletedAt === undefined);
  const now = moved ? { ...state, mcpTasks: { ...mcpTasks, missed: true } } : state;
  if (task.deletedAt !== undefined) {
    return {
      ...now,
      tasks: tasks?.filter((other) => !isIt(other)),
      deletedTasks: byDeletion([task, ...others]),
      conversation: conversation?.taskId === task.id ? undefined : conversation,
    };
  }
  return {
    ...now,
    tasks: inPlace(tasks, task),
    deletedTasks: others,
    deletedHere: deletedHere?.id === task.id ? undefined : deletedHere,
  };
}

function inPlace(tasks: readonly Task[] | undefined, task: Task): readonly Task[] {
  if (tasks === undefined) return [task];
  const index = tasks.findIndex(({ id }) => id === task.id);
  return index === -1 ? byCreation([task, ...tasks]) : tasks.with(index, task);
}

/** Takes lists that were asked for. They may arrive after newer events. */
function takeTasks(state: State, tasks: readonly Task[], deleted: readonly Task[]): State {
  const known = new Map(
    [...(state.tasks ?? []), ...state.deletedTasks].map((task) => [task.id, task]),
  );
  const now = [...tasks, ...deleted].map((task) => {
    const other = known.get(task.id);
    return other !== undefined && other.lastNumber > task.lastNumber ? other : task;
  });
  return {
    ...state,
    tasks: byCreation(now.filter(({ deletedAt }) => deletedAt === undefined)),
    deletedTasks: byDeletion(now.filter(({ deletedAt }) => deletedAt !== undefined)),
    tasksMissed: false,
  };
}

/** Sorts by time of creation, the newest first. The sort is stable, so tasks of one moment keep their order. */
function byCreation(tasks: readonly Task[]): readonly Task[] {
  return tasks.toSorted((a, b) => b.createdAt - a.createdAt);
}

function byDeletion(tasks: readonly Task[]): readonly Task[] {
  return tasks.toSorted((a, b) => (b.deletedAt ?? 0) - (a.deletedAt ?? 0));
}

function withServer(state: State, server: Server): State {
  const servers = state.servers ?? [];
  const index = servers.findIndex(({ name }) => name === server.name);
  const known = servers[index];
  const offers = state.offers.get(server.name);
  return {
    ...state,
    servers: known === undefined ? [...servers, server] : servers.with(index, server),
    offers:
      offers !== undefined && known?.state !== server.state
        ? new Map(state.offers).set(server.name, afterChange(offers, server))
        : state.offers,
  };
}
