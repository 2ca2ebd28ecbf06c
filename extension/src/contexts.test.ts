import { expect, test } from "vitest";
import { type ContextKey, Contexts } from "./contexts.ts";
import { reach, startSidecar } from "./testing/start.ts";

test("context keys follow the sidecar, and what a person has answered is kept", async () => {
  const sidecar = startSidecar("works");
  const kept = new Map<string, unknown>();
  const set: [ContextKey, boolean | number][] = [];
  let heard = (): void => {};
  const until = (key: ContextKey): Promise<void> =>
    new Promise((resolve) => {
      heard = () => {
        if (set.some(([name]) => name === key)) resolve();
      };
      heard();
    });
  const memento = {
    get: (key: string) => kept.get(key),
    update: async (key: string, value: unknown) => void kept.set(key, value),
  };
  const contexts = new Contexts(sidecar, memento, (key, value) => {
    set.push([key, value]);
    heard();
  });
  expect(set).toEqual([
    ["assent.hasAnswered", false],
    ["assent.running", false],
  ]);
  await reach(sidecar, "running");
  await until("assent.hasServers");
  await until("assent.hasTasks");
  expect(set).toContainEqual(["assent.running", true]);

  set.length = 0;
  contexts.setOpenAsks(2);
  contexts.setOpenAsks(2);
  expect(set).toEqual([["assent.openAsks", 2]]);

  set.length = 0;
  const settle = (outcome: unknown): Promise<unknown> =>
    sidecar.forward("test/emit", {
      taskId: "a",
      number: 6,
      openAsks: 0,
      event: { type: "askSettled", messageId: 1, outcome },
    });
  await settle({ reason: "serverLost", at: 1 });
  expect(set).toEqual([]);
  await settle({ reason: "declined", by: "VS Code", at: 1 });
  await settle({ reason: "answered", by: "VS Code", at: 2 });
  expect(set).toEqual([["assent.hasAnswered", true]]);

  set.length = 0;
  await expect(sidecar.forward("test/crash", {})).rejects.toThrow();
  await reach(sidecar, "restarting");
  expect(set).toEqual([["assent.running", false]]);

  const later: [ContextKey, boolean | number][] = [];
  new Contexts(sidecar, memento, (key, value) => later.push([key, value]));
  expect(later).toContainEqual(["assent.hasAnswered", true]);
});
