import { expect, test } from "vitest";
import { OpenAsks } from "./openAsks.ts";
import { reach, startSidecar } from "./testing/start.ts";

test("open asks are counted over all tasks, from the list and from the events after it", async () => {
  const sidecar = startSidecar("works");
  const counts: number[] = [];
  let listed = (): void => {};
  const isListed = new Promise<void>((resolve) => {
    listed = resolve;
  });
  const asks = new OpenAsks(sidecar, (count) => {
    counts.push(count);
    if (count === 2) listed();
  });
  await isListed;
  expect(counts.filter((count) => count === 2)).toHaveLength(1); // the list is one change

  const emit = async (
    taskId: string,
    number: number,
    openAsks: number,
    event: unknown = {},
    workspace?: string,
  ): Promise<void> => {
    await sidecar.forward("test/emit", { taskId, number, openAsks, event, workspace });
  };
  counts.length = 0;
  await emit("a", 4, 7); // older than the list, so it is ignored
  await emit("a", 6, 1);
  await emit("b", 1, 3);
  await emit("a", 7, 0);
  expect(counts).toEqual([1, 4, 3]);

  await emit("a", 8, 1);
  await emit("b", 2, 3, { type: "taskChanged", task: { title: "Second" } });
  expect(asks.byTask).toMatchObject([
    { title: "Second", openAsks: 3 },
    { title: "First", openAsks: 1 },
  ]);

  await sidecar.forward("test/emitUnattributed", { count: 2 });
  expect(asks.count).toBe(6);
  expect(asks.unattributed).toBe(2);

  await emit("c", 1, 4, {}, "api");
  expect(asks.count).toBe(6);
  await sidecar.forward("test/emitOthers", { quiet: true, unattended: 2 });
  expect(asks.count).toBe(8);
  expect(asks.quiet).toBe(true);

  await expect(sidecar.forward("test/crash", {})).rejects.toThrow();
  await reach(sidecar, "restarting");
  expect(asks.count).toBe(0);
});
