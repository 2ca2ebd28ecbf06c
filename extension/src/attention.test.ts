import type { ListOpenAsksResult, OpenAsk } from "@assent/protocol";
import { beforeEach, expect, test, vi } from "vitest";
import { attentionText } from "./attentionWords.ts";

const shown = vi.hoisted(() => ({ messages: [] as unknown[][], choice: "" }));

vi.mock("vscode", () => ({
  l10n: { t: (text: string) => text },
  window: {
    showInformationMessage: async (...args: unknown[]) => {
      shown.messages.push(args);
      return shown.choice;
    },
  },
}));

beforeEach(() => {
  shown.messages = [];
  shown.choice = "";
});

const openAsk = (serverName: string, part: Partial<OpenAsk> = {}): OpenAsk => ({
  taskId: "t",
  title: "T",
  messageId: 1,
  time: 0,
  askId: "a",
  wants: "mcp_elicitation",
  origin: { serverName },
  text: "Which users should be deleted?",
  ...part,
});

test.each<[string, ListOpenAsksResult, string | undefined]>([
  ["one question", { asks: [openAsk("db")] }, "db asks: Which users should be deleted?"],
  [
    "a tool",
    { asks: [openAsk("db", { wants: "use_mcp_tool", text: "count {}" })] },
    "A model wants to use a tool of db: count {}",
  ],
  ["no words", { asks: [openAsk("db", { text: "" })] }, "db asks"],
  [
    "several of one server",
    { asks: [openAsk("db"), openAsk("db")] },
    "db asks: Which users should be deleted? (and 1 more)",
  ],
  [
    "the oldest first",
    { asks: [openAsk("db", { time: 2 }), openAsk("mail", { time: 1, text: "Send it?" })] },
    "mail asks: Send it? (and 1 more)",
  ],
  [
    "three servers, one of them without a task",
    {
      unattributed: [{ id: "u", time: 0, serverName: "device", wants: "mcp_elicitation" }],
      asks: [openAsk("db"), openAsk("mail"), openAsk("mail")],
    },
    "device asks (and 3 more)",
  ],
  ["another workspace's", { asks: [openAsk("db", { workspace: "api" })] }, undefined],
  [
    "another workspace's, without a window",
    { asks: [openAsk("db", { workspace: "api", unattended: true })] },
    "db asks: Which users should be deleted?",
  ],
  [
    "what hides",
    { asks: [openAsk("d\u200bb", { text: "a\u202eb\n\nc" })] },
    "d[U+200B]b asks: a[U+202E]b c",
  ],
  [
    "a long one",
    { asks: [openAsk("x".repeat(100), { text: "y".repeat(300) })] },
    `${"x".repeat(60)}… asks: ${"y".repeat(120)}…`,
  ],
])("the notification's text: %s", (_, asks, want) => {
  expect(attentionText(asks)).toBe(want);
});

async function tell(choice: string, asks = [openAsk("db", { text: "[Yes](command:x)" })]) {
  const { Attention } = await import("./attention.ts");
  vi.useFakeTimers();
  shown.choice = choice;
  const revealed: unknown[] = [];
  const attention = new Attention(
    { visible: false, reveal: async (...what: unknown[]) => void revealed.push(...what) } as never,
    async () => ({ asks }),
  );
  attention.setOpenAsks(1, false);
  await vi.advanceTimersByTimeAsync(1000);
  attention.setOpenAsks(2, false);
  await vi.advanceTimersByTimeAsync(1000);
  vi.useRealTimers();
  return { revealed };
}

test("a question is told of once, without a link, and Show, the only button, leads to it", async () => {
  const { revealed } = await tell("Show");
  expect(shown.messages).toEqual([["db asks: [Yes] (command:x)", {}, "Show"]]);
  expect(revealed).toEqual([{ kind: "ask" }]);
});

test("a question that VS Code's own chat causes shows the panel, and leaves the focus in the chat", async () => {
  const { revealed } = await tell("Show", [
    openAsk("db", { host: "Codex", taskId: "other" }),
    openAsk("db", { host: "VS Code", taskId: "far", workspace: "api", unattended: true }),
    openAsk("db", { host: "VS Code", taskId: "chat" }),
  ]);
  expect(shown.messages).toEqual([]);
  expect(revealed).toEqual([{ kind: "task", taskId: "chat" }, true]);
});

test("a question of another host is told of", async () => {
  const { revealed } = await tell("", [openAsk("db", { host: "Codex" })]);
  expect(shown.messages).toHaveLength(1);
  expect(revealed).toEqual([]);
});

test("another window of the workspace tells of it", async () => {
  const { Attention } = await import("./attention.ts");
  vi.useFakeTimers();
  const attention = new Attention({ visible: false } as never, async () => ({
    asks: [openAsk("db")],
  }));
  attention.setOpenAsks(1, true);
  await vi.advanceTimersByTimeAsync(1000);
  expect(shown.messages).toEqual([]);
  attention.setOpenAsks(2, false);
  await vi.advanceTimersByTimeAsync(1000);
  vi.useRealTimers();
  expect(shown.messages).toHaveLength(1);
});

test("a failed reading of the list does not suppress later notifications", async () => {
  const { Attention } = await import("./attention.ts");
  vi.useFakeTimers();
  let isRunning = false;
  const attention = new Attention({ visible: false } as never, async () => {
    if (!isRunning) throw new Error("The sidecar has ended.");
    return { asks: [openAsk("db"), openAsk("db")] };
  });
  attention.setOpenAsks(1, false);
  await vi.advanceTimersByTimeAsync(1000);
  isRunning = true;
  attention.setOpenAsks(2, false);
  await vi.advanceTimersByTimeAsync(1000);
  vi.useRealTimers();
  expect(shown.messages.map(([text]) => text)).toEqual([
    "db asks: Which users should be deleted? (and 1 more)",
  ]);
});

test("a question that comes while the panel is being hidden is told of", async () => {
  const { Attention } = await import("./attention.ts");
  vi.useFakeTimers();
  const panel = { visible: true };
  const attention = new Attention(panel as never, async () => ({ asks: [openAsk("db")] }));
  attention.setOpenAsks(1, false);
  panel.visible = false;
  await vi.advanceTimersByTimeAsync(1000);
  vi.useRealTimers();
  expect(shown.messages).toHaveLength(1);
});
