import type {
  Call,
  ListServerMcpTasksResult,
  McpTaskEntry,
  ServerMcpTask,
  TaskEventParams,
} from "@assent/protocol";
import { messageOf } from "../link/client.ts";
import { createReader, notRead, type Resource } from "./resource.ts";
import { type Change, set } from "./state.ts";
import type { Store } from "./store.ts";
import { takesCalls } from "./tasks.ts";

export interface McpTasksState {
  readonly mcpTasks: McpTasks;
  readonly serverMcpTasks: ServerMcpTasks;
}

/** The calls of every task that became MCP tasks. */
export interface McpTasks extends Resource {
  /** Those that run, then those that have ended, the newest of each first; absent until they were listed. */
  readonly entries: readonly McpTaskEntry[] | undefined;
  /** How many pages of the list are read. */
  readonly pages: number;
  /** The list has more pages. */
  readonly more: boolean;
}

/** The MCP tasks that servers list. No event tells of them: they are as they were when last asked for. */
export interface ServerMcpTasks extends Resource {
  /** Absent until they were listed. */
  readonly listed: ListServerMcpTasksResult | undefined;
}

export const initialMcpTasks: McpTasksState = {
  mcpTasks: { ...notRead, entries: undefined, pages: 1, more: false },
  serverMcpTasks: { ...notRead, listed: undefined },
};

const mcpTasksInvalidated: Change = (state) => ({
  ...state,
  mcpTasks: { ...state.mcpTasks, missed: true },
});

const mcpTasksPageRequested: Change = (state) => ({
  ...state,
  mcpTasks: { ...state.mcpTasks, pages: state.mcpTasks.pages + 1, missed: true },
});

/**
 * Takes in what an event says of an MCP task. One that is not in the list, or that changes while the list is read,
 * makes it be read (again); nothing else does, so that a server which changes its words often costs no more than that.
 */
export function takeMcpTaskEvent(known: McpTasks, { taskId, event }: TaskEventParams): McpTasks {
  if (event.type !== "callTaskChanged" && event.type !== "callEnded") return known;
  const { entries = [], reading } = known;
  const index = entries.findIndex(
    (entry) => entry.taskId === taskId && entry.messageId === event.messageId,
  );
  const entry = entries[index];
  if (entry === undefined) {
    // Most calls end without having been an MCP task.
    const isNews = event.type === "callTaskChanged" || reading;
    return isNews ? { ...known, missed: true } : known;
  }
  const change: Partial<Call> =
    event.type === "callTaskChanged"
      ? { task: event.task }
      : { endedAt: event.endedAt, result: event.result };
  const changed: McpTaskEntry = { ...entry, call: { ...entry.call, ...change } };
  return { ...known, entries: entries.with(index, changed), missed: known.missed || reading };
}

/** Reports whether the call of an MCP task has no end yet. */
export function isUnderWay({ call }: McpTaskEntry): boolean {
  return call.result === undefined;
}

/**
 * Returns those of the tasks that a server lists which no call has or waits for; the list may be older than the
 * calls. A call that lost its server has no end, so that its task may be found again.
 */
export function onlyOfServers(
  listed: readonly ServerMcpTask[],
  entries: readonly McpTaskEntry[],
): readonly ServerMcpTask[] {
  return listed.filter(
    ({ serverName, mcpTaskId }) =>
      !entries.some(
        ({ call }) =>
          call.serverName === serverName &&
          call.task?.taskId === mcpTaskId &&
          call.result?.type !== "lost",
      ),
  );
}

/** The place of a call. */
export interface StartedCall {
  readonly taskId: string;
  readonly messageId: number;
}

export type McpTasksActions = ReturnType<typeof createMcpTasks>["actions"];

export function createMcpTasks(store: Store, createTask: () => Promise<string>) {
  const { request } = store;
  const calls = createReader(store, {
    get: (state) => state.mcpTasks,
    put: (mcpTasks) => set({ mcpTasks }),
    read: () => readPages(store.state.mcpTasks.pages),
    take: (known, read) => ({ ...known, ...read }),
  });
  const ofServers = createReader(store, {
    get: (state) => state.serverMcpTasks,
    put: (serverMcpTasks) => set({ serverMcpTasks }),
    read: () => request("mcpTask/listOfServers"),
    take: (known, listed) => ({ ...known, listed }),
  });
  store.afterEvents(calls.readMissing);

  /** Reads the first pages of the list. An entry that changes in between is on two pages. */
  async function readPages(pages: number): Promise<Pick<McpTasks, "entries" | "more">> {
    const entries = new Map<string, McpTaskEntry>();
    let page = await request("mcpTask/list");
    for (let count = 1; ; count++) {
      for (const entry of page.mcpTasks ?? []) {
        const key = `${entry.taskId}:${entry.messageId}`;
        if (!entries.has(key)) entries.set(key, entry);
      }
      const { nextCursor } = page;
      if (nextCursor === undefined || count === pages) {
        return { entries: [...entries.values()], more: nextCursor !== undefined };
      }
      page = await request("mcpTask/more", { cursor: nextCursor });
    }
  }

  return {
    actions: {
      /**
       * Reads the MCP tasks of all tasks again, and asks servers for those that only they know. No event tells of the
       * MCP tasks of other windows.
       */
      listMcpTasks(): void {
        store.onEvent(mcpTasksInvalidated);
        if (!store.state.serverMcpTasks.reading) ofServers.refresh();
      },
      /** Reads one more page of the list of MCP tasks. */
      moreMcpTasks: (): void => store.onEvent(mcpTasksPageRequested),
      /**
       * Follows a server's MCP task in the open task. If no open task takes calls, it makes one. Resolves to the place of
       * the call; to undefined if it was refused, which the person is told.
       */
      async followMcpTask(task: ServerMcpTask): Promise<StartedCall | undefined> {
        try {
          const open = store.state.conversation;
          const taskId = takesCalls(open) ? open.taskId : await createTask();
          const { messageId } = await request("call/start", {
            taskId,
            serverName: task.serverName,
            request: { type: "tasks/result", mcpTaskId: task.mcpTaskId },
          });
          return { taskId, messageId };
        } catch (error) {
          store.update(set({ failure: messageOf(error) }));
          return undefined;
        }
      },
    },
  };
}
