import type { SearchTasksParams, SearchTasksResult, Task, TaskSettings } from "@assent/protocol";
import { exportTask } from "./exportTask.ts";
import type { Conversation } from "./openTask.ts";
import { type Change, type State, set } from "./state.ts";
import { storageNoted } from "./storage.ts";
import type { Store } from "./store.ts";

export interface TasksState {
  /** All tasks, most recently created first; undefined until they were listed. */
  readonly tasks: readonly Task[] | undefined;
  /** The tasks that can be restored, the one deleted last first. */
  readonly deletedTasks: readonly Task[];
  /** The task just deleted here, until the person restores it or dismisses the offer. */
  readonly deletedHere: Task | undefined;
  /** An event mentioned a task that is not in the list. */
  readonly tasksMissed: boolean;
  /** The task that was created here last. */
  readonly createdHere: string | undefined;
}

declare module "./state.ts" {
  interface State extends TasksState {}
}

export const initialTasks: TasksState = {
  tasks: undefined,
  deletedTasks: [],
  deletedHere: undefined,
  tasksMissed: false,
  createdHere: undefined,
};

/**
 * Applies requested lists. They may arrive after newer events, and they may lack a task that is not in `before`, the
 * state at their request.
 */
export function tasksListed(
  listed: readonly Task[],
  deleted: readonly Task[] = [],
  before?: State,
): Change {
  return (state) => {
    const known = tasksById(state);
    const earlier = tasksById(before ?? state);
    const now = new Map([...known].filter(([id]) => !earlier.has(id)));
    for (const task of [...listed, ...deleted]) {
      const other = known.get(task.id);
      const isOlder = other !== undefined && other.lastNumber > task.lastNumber;
      now.set(task.id, isOlder ? other : task);
    }
    const all = [...now.values()];
    return {
      ...state,
      tasks: byCreation(all.filter(({ deletedAt }) => deletedAt === undefined)),
      deletedTasks: byDeletion(all.filter(({ deletedAt }) => deletedAt !== undefined)),
      tasksMissed: false,
    };
  };
}

function tasksById({ tasks = [], deletedTasks }: State): ReadonlyMap<string, Task> {
  return new Map([...tasks, ...deletedTasks].map((task) => [task.id, task]));
}

/**
 * Replaces a task in the list, or adds a new one at the start. An older version never replaces a newer one. A task of
 * another workspace is in no list.
 */
export function taskUpserted(task: Task): Change {
  return (state) => {
    const { tasks, deletedTasks, conversation, deletedHere, mcpTasks } = state;
    if (task.workspace !== undefined) {
      const gone = task.deletedAt !== undefined && conversation?.taskId === task.id;
      return gone ? { ...state, conversation: undefined } : state;
    }
    const isIt = ({ id }: Task) => id === task.id;
    const known = tasks?.find(isIt) ?? deletedTasks.find(isIt);
    if (known !== undefined && known.lastNumber > task.lastNumber) return state;
    const others = deletedTasks.filter((other) => !isIt(other));
    // The list of MCP tasks excludes deleted tasks.
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
  };
}

function taskDeleted(task: Task): Change {
  return (state) => ({ ...taskUpserted(task)(state), deletedHere: task });
}

function inPlace(tasks: readonly Task[] | undefined, task: Task): readonly Task[] {
  if (tasks === undefined) return [task];
  const index = tasks.findIndex(({ id }) => id === task.id);
  return index === -1 ? byCreation([task, ...tasks]) : tasks.with(index, task);
}

/** Sorts by time of creation, newest first. The sort is stable for equal times. */
function byCreation(tasks: readonly Task[]): readonly Task[] {
  return tasks.toSorted((a, b) => b.createdAt - a.createdAt);
}

function byDeletion(tasks: readonly Task[]): readonly Task[] {
  return tasks.toSorted((a, b) => (b.deletedAt ?? 0) - (a.deletedAt ?? 0));
}

/** Reports whether a call can start in the open task. */
export function takesCalls(open: Conversation | undefined): open is Conversation {
  if (open?.task?.workspace !== undefined) return false;
  return open !== undefined && open.task?.closed !== true;
}

/** Reports whether nothing has happened in a task. The first message or call gives it a title. */
function isUnused({ title, openAsks, closed, workspace, settings }: Task): boolean {
  const isBlank = title === "" && openAsks === 0 && settings === undefined;
  return isBlank && closed !== true && workspace === undefined;
}

/** Returns the tasks to choose from: without those in which nothing has happened, unless one is open. */
export function tasksToList({ tasks = [], conversation }: State): readonly Task[] {
  return tasks.filter((task) => !isUnused(task) || task.id === conversation?.taskId);
}

/** Returns the task that was created here, while nothing has happened in it. One of another panel may be in use there. */
export function unusedHere({ tasks = [], createdHere }: State): Task | undefined {
  return tasks.find((task) => task.id === createdHere && isUnused(task));
}

/** Returns the other tasks with asks, oldest task first. */
export function otherTasksWaiting({ tasks = [], conversation }: State): readonly Task[] {
  return tasks
    .filter(({ id, openAsks }) => openAsks > 0 && id !== conversation?.taskId)
    .toReversed();
}

/** Reports whether the open task still exists, or belongs to another workspace. Its tasks are in no list. */
function isListed({ tasks = [], conversation }: State): boolean {
  if (conversation?.task?.workspace !== undefined) return true;
  return tasks.some(({ id }) => id === conversation?.taskId);
}

/** Returns the task that was open last; otherwise one with open asks; otherwise the newest that is in use. */
function firstTask({ tasks = [] }: State, lastOpen: string | undefined): string | undefined {
  const first =
    tasks.find(({ id }) => id === lastOpen) ??
    tasks.find(({ openAsks }) => openAsks > 0) ??
    tasks.find((task) => task.closed !== true && !isUnused(task));
  return first?.id;
}

export type TasksActions = ReturnType<typeof createTasks>["actions"];

/** `select` opens a task, or none. */
export function createTasks(store: Store, select: (taskId: string | undefined) => void) {
  const { request, attempt } = store;
  let listing = false;
  store.afterEvents(readMissing);

  /** With `choose`, a task is opened in the same step if none is open, so that nothing renders in between. */
  async function listTasks(choose = false): Promise<void> {
    const before = store.state;
    const result = await request("task/list");
    const { tasks = [], deleted = [], storageFailure, storageNote } = result;
    store.update(tasksListed(tasks, deleted, before));
    const { state } = store;
    if (choose && !isListed(state)) select(firstTask(state, store.view.get().openTaskId));
    if (storageFailure !== undefined) store.update(set({ storageFailure }));
    if (storageNote !== undefined) store.update(storageNoted(storageNote));
  }

  /** Lists the tasks until the list is up to date, one reading at a time. */
  function readMissing(): void {
    if (listing || !store.state.tasksMissed) return;
    listing = true;
    attempt(async () => {
      try {
        while (store.state.tasksMissed) await listTasks();
      } finally {
        listing = false;
      }
    });
  }

  /** Opens a new task: the one created here in which nothing has happened yet, or another. */
  async function createTask(): Promise<string> {
    const unused = unusedHere(store.state);
    if (unused !== undefined) {
      select(unused.id);
      return unused.id;
    }
    const task = await request("task/create", {});
    store.update(taskUpserted(task));
    store.update(set({ createdHere: task.id }));
    select(task.id);
    return task.id;
  }

  async function configureTask(taskId: string, settings: TaskSettings): Promise<void> {
    store.update(taskUpserted(await request("task/configure", { taskId, settings })));
  }

  async function restoreTask(taskId: string): Promise<void> {
    try {
      const task = await request("task/restore", { taskId });
      store.onEvent(taskUpserted(task));
      select(task.id);
    } finally {
      store.update(set({ deletedHere: undefined }));
    }
  }

  return {
    listTasks,
    createTask,
    configureTask,
    actions: {
      /** Searches messages. Rejects with an {@link RpcError} if the sidecar cannot search. */
      searchTasks: (params: SearchTasksParams, signal: AbortSignal): Promise<SearchTasksResult> =>
        request("task/search", params, { signal }),
      /** Creates a task and opens it. */
      newTask: (): void => attempt(createTask),
      renameTask: (taskId: string, title: string): void =>
        attempt(async () => {
          store.update(taskUpserted(await request("task/rename", { taskId, title })));
        }),
      closeTask: (taskId: string): void =>
        attempt(async () => {
          store.update(taskUpserted(await request("task/close", { taskId })));
        }),
      /** Deletes a task. With `close`, its calls and its turn end first. */
      deleteTask: (taskId: string, close: boolean): void =>
        attempt(async () => {
          store.onEvent(taskDeleted(await request("task/delete", { taskId, close })));
        }),
      /** Restores a deleted task, and opens it. */
      restoreTask: (taskId: string): void => attempt(() => restoreTask(taskId)),
      /** Hides the offer to restore a deleted task. */
      dismissDeletion: (): void => store.update(set({ deletedHere: undefined })),
      /** Chooses the model and the servers of a task's conversation. */
      configureTask: (taskId: string, settings: TaskSettings): void =>
        attempt(() => configureTask(taskId, settings)),
      /** Creates a task with a copy of the conversation up to a message, and opens it. */
      branchTask: (taskId: string, messageId: number): void =>
        attempt(async () => {
          const task = await request("task/branch", { taskId, messageId });
          store.update(taskUpserted(task));
          select(task.id);
        }),
      /** Shows a task as a Markdown document, with its older messages. */
      exportTask: (taskId: string): void => attempt(() => exportTask(request, taskId)),
    },
  };
}
