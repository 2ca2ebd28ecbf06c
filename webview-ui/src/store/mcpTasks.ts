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

declare module "./state.ts" {
  interface State extends McpTasksState {}
}

/** The calls of all tasks that became MCP tasks. */
export interface McpTasks extends Resource {
  /** Running ones first, then ended ones, each newest first; undefined until they were listed. */
  readonly entries: readonly McpTaskEntry[] | undefined;
  /** The number of loaded pages. */
  readonly pages: number;
  /** The list has more pages. */
  readonly more: boolean;
}

/** The MCP tasks that servers list. They have no events, so they are as of the last listing. */
export interface ServerMcpTasks extends Resource {
  /** Undefined until they were listed. */
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
 * Applies an event about an MCP task. The list is reread only if it lacks the task, or is being read. So a server that
 * updates its status text often causes no readings.
 */
export function takeMcpTaskEvent(known: McpTasks, { taskId, event }: TaskEventParams): McpTasks {
  if (event.type !== "callTaskChanged" && event.type !== "callEnded") return known;
  const { entries = [], reading } = known;
  const index = entries.findIndex(
    (entry) => entry.taskId === taskId && entry.messageId === event.messageId,
  );
  const entry = entries[index];
  if (entry === undefined) {
    // Most calls end without becoming an MCP task.
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

/** Reports whether the call of an MCP task has not ended. */
export function isUnderWay({ call }: McpTaskEntry): boolean {
  return call.result === undefined;
}

/**
 * Returns the listed MCP tasks of a server that no call has or waits for. The list may be older than the calls. A call
 * that lost its server has no end, so that its task can be found again.
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

/** The position of a call. */
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

  /** Reads the first pages of the list. An entry that changes during that is on two pages. */
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
       * Reads the MCP tasks of all tasks again, and asks servers for those that only they know. The MCP tasks of other
       * windows have no events.
       */
      listMcpTasks(): void {
        store.onEvent(mcpTasksInvalidated);
        if (!store.state.serverMcpTasks.reading) ofServers.refresh();
      },
      /** Reads one more page of the list of MCP tasks. */
      moreMcpTasks: (): void => store.onEvent(mcpTasksPageRequested),
      /**
       * Follows a server's MCP task in the open task. If the open task accepts no calls, it creates one. Resolves to
       * the call's position; to undefined if it was refused, which the person is told.
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
