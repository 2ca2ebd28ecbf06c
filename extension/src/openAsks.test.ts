import { expect, onTestFinished, test } from "vitest";
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
  onTestFinished(() => asks.dispose());
  await isListed;

  const emit = async (
    taskId: string,
    number: number,
    openAsks: number,
    event: unknown = {},
  ): Promise<void> => {
    await sidecar.forward("test/emit", { taskId, number, openAsks, event });
  };
  counts.length = 0;
  await emit("a", 4, 7); // Older than what the list said: it says nothing new.
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

  const held = {
    title: "Second",
    lastNumber: 3,
    openAsks: 3,
    elsewhere: { window: "w", since: 1 },
  };
  await emit("b", 3, 3, { type: "taskFollowed", task: held });
  expect(asks.byTask).toMatchObject([{ title: "First", openAsks: 1 }]);
  await emit("b", 3, 2, {
    type: "taskFollowed",
    task: { ...held, openAsks: 2, elsewhere: undefined },
  });
  expect(asks.count).toBe(3);

  await sidecar.forward("test/emitUnclaimed", { count: 2 });
  expect(asks.count).toBe(5);
  expect(asks.unclaimed).toBe(2);

  await expect(sidecar.forward("test/crash", {})).rejects.toThrow();
  await reach(sidecar, "restarting");
  expect(asks.count).toBe(0);
});
