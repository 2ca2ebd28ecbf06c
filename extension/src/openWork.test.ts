import { expect, test } from "vitest";
import { OpenWork } from "./openWork.ts";
import { reach, startSidecar } from "./testing/start.ts";

test("remembers open work after the sidecar's end, and forgets it when it is done", async () => {
  const sidecar = startSidecar("works");
  const kept = new Map<string, unknown>();
  let changed = (): void => {};
  const memento = {
    get: (key: string) => kept.get(key),
    update: async (key: string, value: unknown) => {
      kept.set(key, value);
      changed();
    },
  };
  const next = (): Promise<void> => new Promise((resolve) => (changed = resolve));
  const work = new OpenWork(sidecar, memento);
  expect(work.wasOpen).toBe(false);
  await reach(sidecar, "running");

  work.setOpenAsks(1);
  expect(work.wasOpen).toBe(true);
  const crash = expect(sidecar.forward("test/crash", {})).rejects.toThrow();
  await reach(sidecar, "restarting");
  await crash;
  work.setOpenAsks(0); // the person cannot know these
  expect(work.wasOpen).toBe(true);
  await reach(sidecar, "running");
  expect(work.wasOpen, "nothing is counted yet").toBe(true);
  await sidecar.request("mcpTask/list", undefined);
  expect(work.wasOpen, "only the tasks are counted").toBe(true);
  work.setOpenAsks(0);
  expect(work.wasOpen).toBe(false);

  const list = async (endedAt: number | undefined): Promise<void> => {
    await sidecar.forward("test/mcpTasks", { mcpTasks: [{ call: { endedAt } }] });
    const event = { type: "callTaskChanged", messageId: 1 };
    await sidecar.forward("test/emit", { taskId: "a", number: 9, openAsks: 0, event });
  };
  let known = next();
  await list(undefined);
  await known;
  expect(work.wasOpen).toBe(true);
  known = next();
  await list(7);
  await known;
  expect(work.wasOpen).toBe(false);
});
