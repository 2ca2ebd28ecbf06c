import type { Call, McpTaskEntry, ServerMcpTask, TaskEventParams } from "@assent/protocol";
import type { McpTasks } from "./state.ts";

/**
 * Takes what an event says of an MCP task. One that is not in the list, or that is told of while the
 * list is on its way, makes it be read (again); nothing else does, so that a server which changes its
 * words often costs no more than that.
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

/** Says whether the call of an MCP task has no end yet. */
export function isUnderWay({ call }: McpTaskEntry): boolean {
  return call.result === undefined;
}

/**
 * Those of the tasks that a server lists which no call has or waits for; the list may be older than the
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
