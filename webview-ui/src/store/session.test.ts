import type { ListTasksResult, ServersChangedParams } from "@assent/protocol";
import { expect, test, vi } from "vitest";
import { FakeHost, startSession } from "../testing/host.ts";
import { call, message, server, task } from "../testing/samples.ts";
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

const view = () => new ViewStateStore({ load: () => emptyViewState, save: vi.fn() });

test("a task that is created while the list is read is listed, and stays open", async () => {
  const release: ((list: ListTasksResult) => void)[] = [];
  const created = task({ id: "t2", title: "" });
  const host = new FakeHost(task(), [], {
    "task/list": () => new Promise((resolve) => release.push(resolve)),
    "task/create": () => created,
    "task/open": () => ({ task: created }),
  });
  const session = startSession(host, view());
  await expect.poll(() => host.calls("task/list")).toHaveLength(1);
  session.actions.newTask();
  await expect.poll(() => session.getState().conversation?.task?.id).toBe("t2");
  release[0]?.({ tasks: [task()] });
  await expect.poll(() => session.getState().tasks).toHaveLength(2);
  expect(session.getState().conversation?.taskId).toBe("t2");
});

test("a server that changes while the list is read is as it is now", async () => {
  const release: ((list: ServersChangedParams) => void)[] = [];
  const host = new FakeHost(task(), [], {
    "server/list": () => new Promise((resolve) => release.push(resolve)),
  });
  const session = startSession(host, view());
  const states = () => session.getState().servers?.map(({ state }) => state);
  await expect.poll(() => host.calls("server/list")).toHaveLength(1);
  await host.tell("server/changed", server({ state: "running" }));
  const starting = server({ state: "starting" });
  release[0]?.({ servers: [starting, { ...starting, name: "another" }] });
  await expect.poll(states).toEqual(["running", "starting"]);
});
