import type { Event, McpTaskEntry } from "@assent/protocol";
import { expect, test } from "vitest";
import { at, call, mcpTask, message } from "../testing/samples.ts";
import type { McpTasks } from "./mcpTasks.ts";
import { takeMcpTaskEvent } from "./mcpTasks.ts";

const entry: McpTaskEntry = {
  taskId: "t1",
  title: "First",
  messageId: 1,
  time: at,
  call: call({ task: mcpTask() }),
};
const task = mcpTask({ status: "input_required" });
const result = { type: "cancelled" } as const;
const changed = (messageId: number): Event => ({ type: "callTaskChanged", messageId, task });
const ended = (messageId: number): Event => ({ type: "callEnded", messageId, endedAt: at, result });

const read: McpTasks = {
  entries: [entry],
  pages: 1,
  more: false,
  reading: false,
  missed: false,
  failure: undefined,
};
const reading: McpTasks = { ...read, reading: true };
const nowWaits = { ...entry, call: { ...entry.call, task } };
const nowEnded = { ...entry, call: { ...entry.call, endedAt: at, result } };

test.each<readonly [string, McpTasks, Event, Partial<McpTasks>]>([
  ["a change is taken in", read, changed(1), { entries: [nowWaits] }],
  ["an end is taken in", read, ended(1), { entries: [nowEnded] }],
  // An earlier request may return an earlier state.
  [
    "a change during a reading is taken in, and read again",
    reading,
    changed(1),
    { entries: [nowWaits], missed: true },
  ],
  ["a change of what is not listed is read", read, changed(2), { missed: true }],
  ["an end of what is not listed was no MCP task's", read, ended(2), {}],
  ["an end of what may be in the list under way is read", reading, ended(2), { missed: true }],
  [
    "anything else is none of the list's business",
    reading,
    { type: "messageAdded", message: message(2, call()) },
    {},
  ],
])("%s", (_name, before, event, want) => {
  const params = { taskId: "t1", number: 2, openAsks: 0, event };
  expect(takeMcpTaskEvent(before, params)).toEqual({ ...before, ...want });
});

test("a message of another task has the same number, and is another", () => {
  const params = { taskId: "t2", number: 2, openAsks: 0, event: ended(1) };
  expect(takeMcpTaskEvent(read, params)).toBe(read);
});
