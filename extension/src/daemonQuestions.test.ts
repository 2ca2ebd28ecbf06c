import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Memento } from "vscode";
import { askToEnd, askToUpdate } from "./daemonQuestions.ts";

/** A window, its questions, and the person's choices. */
const fake = vi.hoisted(() => ({
  state: { focused: true },
  listeners: new Set<(state: { focused: boolean }) => void>(),
  shown: [] as string[],
  choose: async (_items: readonly string[]): Promise<string | undefined> => undefined,
}));

vi.mock("vscode", () => {
  const show = async (text: string, _options: unknown, ...items: string[]) => {
    fake.shown.push(text);
    return await fake.choose(items);
  };
  return {
    l10n: {
      t: (text: string, ...args: unknown[]) =>
        text.replace(/\{(\d)\}/g, (_, n: string) => String(args[Number(n)])),
    },
    window: {
      state: fake.state,
      onDidChangeWindowState: (listener: (state: { focused: boolean }) => void) => {
        fake.listeners.add(listener);
        return { dispose: () => fake.listeners.delete(listener) };
      },
      showInformationMessage: show,
      showWarningMessage: show,
    },
  };
});

function setFocus(focused: boolean): void {
  fake.state.focused = focused;
  for (const listener of fake.listeners) listener({ focused });
}

function memento(): Memento {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: (key: string) => values.get(key),
    update: async (key: string, value: unknown) => void values.set(key, value),
  } as Memento;
}

beforeEach(() => {
  setFocus(true);
  fake.shown = [];
  fake.choose = async ([first]) => first;
});

const { signal } = new AbortController();

describe.for([
  ["an update", (over: AbortSignal) => askToUpdate(memento(), "a question is open", 7, over)],
  ["the end of a daemon that hangs", (over: AbortSignal) => askToEnd(7, over)],
] as const)("the question about %s", ([, ask]) => {
  test("is put in the window that the person uses", async () => {
    expect(await ask(signal)).toBe(true);
    fake.choose = async ([, wait]) => wait;
    expect(await ask(signal)).toBe(false);
    fake.choose = async () => undefined;
    expect(await ask(signal)).toBe(false);
    expect(fake.shown).toHaveLength(3);
  });

  test("waits for the person in another window", async () => {
    setFocus(false);
    const asked = ask(signal);
    setFocus(false);
    expect(fake.shown).toEqual([]);
    setFocus(true);
    expect(await asked).toBe(true);
    expect(fake.listeners.size).toBe(0);
  });

  test("is not put any more when it is over", async () => {
    setFocus(false);
    const over = new AbortController();
    const asked = ask(over.signal);
    over.abort();
    expect(await asked).toBe(false);
    setFocus(true);
    expect(await ask(over.signal)).toBe(false);
    expect(fake.shown).toEqual([]);
    expect(fake.listeners.size).toBe(0);
  });
});

test("one window alone asks about the update of a daemon", async () => {
  const state = memento();
  expect(await askToUpdate(state, "a question is open", 7, signal)).toBe(true);
  expect(await askToUpdate(state, "a question is open", 7, signal)).toBe(false);
  expect(await askToUpdate(state, "a question is open", 8, signal)).toBe(true);
  expect(fake.shown).toHaveLength(2);
});

test("a daemon that answers again is not ended", async () => {
  const over = new AbortController();
  fake.choose = async ([end]) => {
    over.abort();
    return end;
  };
  expect(await askToEnd(7, over.signal)).toBe(false);
  expect(fake.shown).toEqual([
    "Assent does not respond. You can wait, or end its process (7) for all windows. Its running calls then end.",
  ]);
});
