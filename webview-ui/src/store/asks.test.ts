import type { TaskEventParams } from "@assent/protocol";
import { describe, expect, test } from "vitest";
import { answered, openAsk, task } from "../testing/samples.ts";
import { byTask, stepFrom } from "./askOrder.ts";
import { emptyInbox, takeAskEvent } from "./asks.ts";

const [one, two, three] = [openAsk(1), openAsk(2, { taskId: "t2", title: "Second" }), openAsk(3)];
const entries = [one, two, three];

describe("a step through the open asks", () => {
  const place = (messageId: number, taskId = "t1") => openAsk(messageId, { taskId });
  const cases = [
    { name: "next from nowhere", at: undefined, way: "next", want: one },
    { name: "previous from nowhere", at: undefined, way: "previous", want: three },
    { name: "next over another task", at: one, way: "next", want: two },
    { name: "previous over another task", at: three, way: "previous", want: two },
    { name: "next round the end", at: three, way: "next", want: one },
    { name: "previous round the end", at: one, way: "previous", want: three },
    { name: "next from a settled one", at: place(2, "t0"), way: "next", want: two },
    { name: "previous from a settled one", at: place(2, "t9"), way: "previous", want: two },
  ] as const;
  test.each(cases)("$name", ({ at, way, want }) => {
    expect(stepFrom(entries, at, way)).toBe(want);
  });

  test("leads nowhere if there is none", () => {
    expect(stepFrom([], one, "next")).toBeUndefined();
    expect(stepFrom([], undefined, "previous")).toBeUndefined();
  });
});

test("the task with the oldest question comes first, with all of its questions", () => {
  expect(byTask(entries)).toEqual([
    { taskId: "t1", title: "First", asks: [one, three] },
    { taskId: "t2", title: "Second", asks: [two] },
  ]);
});

describe("the inbox is read again", () => {
  const notice = { type: "notice", level: "info", text: "" } as const;
  const added = { type: "messageAdded", message: { id: 1, time: 1, body: notice } } as const;
  const settled = { type: "askSettled", messageId: 1, outcome: answered } as const;
  const known = task({ openAsks: 1, lastNumber: 5 });
  const event = (part: Partial<TaskEventParams>): TaskEventParams => ({
    taskId: "t1",
    number: 6,
    openAsks: 1,
    event: added,
    ...part,
  });
  const cases = [
    { name: "where a count changes", params: event({ openAsks: 2 }), known, want: true },
    { name: "where an ask is settled", params: event({ event: settled }), known, want: true },
    { name: "where an event was missed", params: event({ number: 7 }), known, want: true },
    { name: "where a new task asks", params: event({}), known: undefined, want: true },
    { name: "not for another message", params: event({}), known, want: false },
    { name: "not for old news", params: event({ number: 5, openAsks: 2 }), known, want: false },
    { name: "not for a new task", params: event({ openAsks: 0 }), known: undefined, want: false },
  ];
  test.each(cases)("$name", ({ params, known: task, want }) => {
    expect(takeAskEvent(emptyInbox, params, task).missed).toBe(want);
  });
});
