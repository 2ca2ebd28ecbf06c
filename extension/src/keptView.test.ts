import { expect, test } from "vitest";
import { KeptView } from "./keptView.ts";

function memento() {
  const kept = new Map<string, unknown>();
  return {
    get: (key: string) => kept.get(key),
    async update(key: string, value: unknown) {
      kept.set(key, value);
    },
  };
}

test("a view is there in the window's next life", async () => {
  const state = memento();
  expect(new KeptView(state).get()).toBeUndefined();
  await new KeptView(state).keep({ view: { openTaskId: "t1" } });
  expect(new KeptView(state).get()).toEqual({ openTaskId: "t1" });
});

test("a view that is too large leaves the one before it as it was", async () => {
  const view = new KeptView(memento());
  await view.keep({ view: { openTaskId: "t1" } });
  await view.keep({ view: { openTaskId: "t2", text: "x".repeat(600_000) } });
  expect(view.get()).toEqual({ openTaskId: "t1" });
});
