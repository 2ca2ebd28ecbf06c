import { expect, test } from "vitest";
import { emptyViewState, type ViewState, ViewStateStore } from "./viewState.ts";

function storage(saved?: unknown) {
  const kept: { saved: unknown } = { saved };
  return {
    kept,
    load: () => kept.saved,
    save: (state: ViewState) => {
      kept.saved = JSON.parse(JSON.stringify(state));
    },
  };
}

test("what was kept is there in the next life", () => {
  const disk = storage();
  const before = new ViewStateStore(disk);
  before.setDraft("a1", { reason: "because", tick: true, tags: ["a"] });
  before.setExpanded("t1:2", true);
  before.update((state) => ({ ...state, openTaskId: "t1", place: { messageId: 3, offset: 12 } }));

  const after = new ViewStateStore(storage(disk.kept.saved));
  expect(after.draft("a1")).toEqual({ reason: "because", tick: true, tags: ["a"] });
  expect(after.expanded("t1:2")).toBe(true);
  expect(after.get()).toMatchObject({ openTaskId: "t1", place: { messageId: 3, offset: 12 } });
});

test("what is attached is there in the next life, without what is in the files", () => {
  const disk = storage();
  const before = new ViewStateStore(disk);
  const file = { name: "a.txt", content: { type: "text", text: "secret" } } as const;
  const kept = {
    kind: "file",
    key: before.nextKey(),
    name: "a.txt",
    size: 6,
    keptAs: "k1",
  } as const;
  const read = {
    kind: "resource",
    key: before.nextKey(),
    serverName: "db",
    title: "Rows",
    messageId: 3,
  } as const;
  before.setAttached("composer:t1", [{ ...kept, file }, read]);
  before.setAttached("composer:t2", [{ ...kept, file }]);
  before.setAttached("composer:t2", []);
  expect(before.attached("composer:t1")).toEqual([{ ...kept, file }, read]);
  expect(JSON.stringify(disk.kept.saved)).not.toContain("secret");

  const after = new ViewStateStore(storage(disk.kept.saved));
  expect(after.attached("composer:t1")).toEqual([{ ...kept, file: undefined }, read]);
  expect(after.attached("composer:t2")).toEqual([]);
  expect(after.nextKey()).toBe(3);
});

test("what an earlier life was not done with is lost, and stays so", () => {
  const attached = [
    { kind: "file", key: 1, name: "a.txt", size: 6 },
    { kind: "resource", key: 2, serverName: "db", title: "Rows" },
    { kind: "file", key: "3", name: "no.txt", size: 6, keptAs: "k1" },
    { kind: "other", key: 4, name: "other" },
  ];
  const disk = storage({ attached: { "composer:": attached, odd: 3 } });
  const lost = [
    { kind: "lost", key: 1, name: "a.txt" },
    { kind: "lost", key: 2, name: "Rows" },
  ];
  const view = new ViewStateStore(disk);
  expect(view.attached("composer:")).toEqual(lost);
  view.setExpanded("x", true);
  expect(new ViewStateStore(storage(disk.kept.saved)).attached("composer:")).toEqual(lost);
});

test.each([
  [undefined],
  [null],
  ["text"],
  [[]],
  [{ drafts: 3, runner: null, attached: [], expanded: "x", place: 12 }],
])("%j from an earlier version is taken as nothing", (saved) => {
  expect(new ViewStateStore(storage(saved)).get()).toEqual(emptyViewState);
});

test("drafts that are none are dropped, the others stay", () => {
  const view = new ViewStateStore(storage({ drafts: { a: { x: 1 }, b: { x: "y" }, c: "z" } }));
  expect(view.get().drafts).toEqual({ b: { x: "y" } });
});

test("only the newest drafts are kept", () => {
  const view = new ViewStateStore(storage());
  for (let n = 0; n < 60; n++) view.setDraft(`a${n}`, { n: String(n) });
  expect(Object.keys(view.get().drafts)).toHaveLength(50);
  expect(view.draft("a0")).toBeUndefined();
  expect(view.draft("a59")).toEqual({ n: "59" });
});

test("a draft can be put away", () => {
  const view = new ViewStateStore(storage());
  view.setDraft("a1", { x: "y" });
  view.setDraft("a1", undefined);
  expect(view.draft("a1")).toBeUndefined();
  expect(view.draft("constructor")).toBeUndefined();
});
