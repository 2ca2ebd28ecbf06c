import { expect, test, vi } from "vitest";
import { FakeHost, startSession } from "../testing/host.ts";
import { call, message, task } from "../testing/samples.ts";
import { emptyViewState, ViewStateStore } from "../view/viewState.ts";

// The pages of a task, without anything that draws them.

test.each([
  ["any", undefined, {}],
  ["a near one", 9_950, { limit: 200 }],
  ["one farther away", 9_400, { limit: 650 }],
  ["one that takes several", 3, { limit: 1000 }],
])("older messages are read as far back as %s", async (_, messageId, limit) => {
  const host = new FakeHost(task(), [], {
    "task/open": ({ before }) => ({
      task: task(),
      messages: [message(before === undefined ? 10_000 : before - 1, call())],
      reset: before === undefined,
      earlier: true,
    }),
  });
  const session = startSession(
    host,
    new ViewStateStore({ load: () => emptyViewState, save: vi.fn() }),
  );
  await expect.poll(() => session.getState().conversation?.earlier).toBe(true);
  session.actions.loadEarlier(messageId);
  await expect.poll(() => session.getState().conversation?.messages).toHaveLength(2);
  expect(host.calls("task/open").at(-1)).toEqual({ taskId: "t1", before: 10_000, ...limit });
});
