import type { Body, Field, Message } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { visible } from "../../lib/visible.ts";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { descriptionOf } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead } from "../../testing/menu.ts";
import {
  answered,
  ask,
  at,
  call,
  callTool,
  elicitation,
  mcpTask,
  message,
  openAsk,
  otherModel,
  sampling,
  samplingReview,
  server,
  task,
  tool,
  toolRequest,
  unattributedAsk,
  urlElicitation,
} from "../../testing/samples.ts";
import { hides } from "../form/HiddenNote.tsx";

// Draws the panel with hidden characters in every text that a server or a model writes. None may be drawn raw: they
// could disguise a text.

vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

/** Changes the direction of writing, without a glyph. */
const hidden = "\u202e\u200b\u2066";

/** The members that servers and models write. Ids, types and states are Assent's own. */
const theirs = new Set(
  `argumentsText command content data description default detail error grantReason model modelReason message
   mimeType name pattern problem promptName progress reason result statusMessage stderr stdout structuredContent
   systemPrompt text title toolName toolNames uri warnings window`.split(/\s+/),
);
/** Members with words of the protocol. */
const words = new Set([
  "id",
  "type",
  "role",
  "status",
  "provider",
  "end",
  "outcome",
  "format",
  "data",
]);

/** Members that hold JSON of servers and models. */
const freeMembers = new Set(["arguments", "structuredContent", "input", "metadata"]);

/** Puts hidden characters into the texts of a value that servers and models write. */
function hostile<T>(value: T): T {
  return withHidden(value, "", false) as T;
}

function withHidden(value: unknown, key: string, free: boolean): unknown {
  if (typeof value === "string") {
    const isWord = key === "reason" && !value.includes(" ");
    return (free || theirs.has(key)) && !isWord ? `${hidden}${value}` : value;
  }
  if (Array.isArray(value)) return value.map((item) => withHidden(item, key, free));
  if (typeof value !== "object" || value === null) return value;
  const inside = free || freeMembers.has(key);
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      words.has(name) && !inside && typeof item === "string"
        ? item
        : withHidden(item, name, inside),
    ]),
  );
}

function row(body: Body, index: number): Message {
  return message(index + 1, hostile(body));
}

type Handlers = NonNullable<ConstructorParameters<typeof FakeHost>[2]>;

async function show(messages: readonly Message[], handlers: Handlers = {}) {
  const of = { title: `First ${hidden}`, lastNumber: messages.length, openAsks: messages.length };
  const host = new FakeHost(task(of), messages, {
    "tools/list": () => ({ tools: [hostile(tool)] }),
    ...handlers,
  });
  host.servers = [server()];
  const storage = new MemoryStorage();
  storage.saved = { openTaskId: host.task.id, runner: { open: true } };
  return { host, ...showApp(host, storage) };
}

/** Opens every disclosure, and returns the drawn texts with hidden characters. */
async function unseen(): Promise<readonly string[]> {
  for (let round = 0; round < 6; round++) {
    const folded = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
    if (folded.length === 0) break;
    for (const details of folded) details.open = true;
    await waitFor(() => {
      for (const details of folded)
        expect(details.querySelector(".disclosure-body")).not.toBeNull();
    });
  }
  const texts: string[] = [];
  const walker = document.createTreeWalker(
    document.body,
    NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
  );
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    // A control keeps its text. A note below the control names the hidden characters.
    if (node.parentElement?.closest("textarea") != null) continue;
    if (node instanceof Element) {
      for (const name of ["aria-label", "title", "alt", "placeholder"]) {
        texts.push(node.getAttribute(name) ?? "");
      }
    } else {
      texts.push(node.textContent ?? "");
    }
  }
  return texts.filter((text) => [...hidden].some((character) => text.includes(character)));
}

const pixel = "iVBORw0KGgo=";

test("calls and their results", async () => {
  const bodies: readonly Body[] = [
    call({
      request: callTool({ note: "x" }),
      progress: { progress: 3, total: 12, at, message: "m" },
    }),
    call({ request: { type: "resources/read", uri: "db://rows" } }),
    call({ request: { type: "prompts/get", promptName: "review", arguments: { table: "rows" } } }),
    call({ task: mcpTask({ status: "input_required", problem: "p", statusMessage: "s" }) }),
    ...(
      [
        { type: "error", code: -32603, message: "broken", data: { why: "disk" } },
        { type: "lost", reason: "lost link" },
        { type: "abandoned", reason: "is gone" },
        {
          type: "prompt",
          description: "d",
          messages: [{ role: "user", content: { type: "text", text: "t" } }],
        },
        {
          type: "result",
          content: [
            { type: "text", text: "12 rows" },
            {
              type: "resource_link",
              uri: "db://x",
              name: "n",
              title: "t",
              description: "d",
              mimeType: "a/b",
            },
            { type: "resource_link", uri: "db://x", name: "n" },
            { type: "resource", resource: { uri: "db://y", text: "inside" } },
            { type: "resource", resource: { uri: "db://z", mimeType: "x/y", blob: pixel } },
            { type: "image", mimeType: "image/odd", data: pixel },
            { type: "audio", mimeType: "audio/odd", data: pixel },
          ],
          structuredContent: { rows: "many" },
        },
      ] as const
    ).map((result) => call({ endedAt: at + 1, result })),
    { type: "notice", level: "warning", text: "The server said that" },
  ];
  await show(bodies.map(row));
  await screen.findByText(/broken/);
  expect(await unseen()).toEqual([]);
});

const fields: readonly Field[] = [
  {
    type: "string",
    name: "f1",
    title: "Reason",
    description: "why",
    pattern: "(?=x)",
    default: "left",
  },
  { type: "number", name: "f4", title: "Amount" },
  { type: "boolean", name: "f5", title: "Really", description: "d" },
  { type: "choice", name: "f6", title: "Color", options: [{ value: "red", title: "Red" }] },
  { type: "choices", name: "f8", title: "Sizes", options: [{ value: "small", title: "Small" }] },
  { type: "json", name: "f9", title: "Filter", schema: {}, default: { a: "b" } },
];

const questions = [
  elicitation(fields),
  urlElicitation(),
  sampling({ samplingRequest: { ...toolRequest, systemPrompt: "Brief.", stopSequences: ["END"] } }),
  samplingReview(),
  {
    type: "use_mcp_tool",
    serverName: "mail",
    toolUse: { messageId: 1, toolUseId: "u" },
    tool,
    arguments: { to: "Ada" },
  },
  {
    type: "access_mcp_resource",
    serverName: "mail",
    toolUse: { messageId: 1, toolUseId: "u" },
    uri: "db://x",
  },
] as const;

test.each(questions.map((question) => [question.type, question] as const))(
  "an open %s",
  async (_type, question) => {
    const { user } = await show([row(ask("a1", question), 0)]);
    await screen.findAllByRole("button", { name: /^(Decline|Deny|Withhold)$/ });
    expect(await unseen()).toEqual([]);
    for (const name of [/^Edit/, /^Edit as JSON/, /^Approve and Allow/, /^Submit/]) {
      for (const button of screen.queryAllByRole("button", { name })) await user.click(button);
      expect(await unseen()).toEqual([]);
    }
    // A control keeps its text, and its description names the hidden characters.
    for (const typed of screen.queryAllByRole<HTMLInputElement>("textbox")) {
      if (hides(typed.value)) expect(descriptionOf(typed)).toContain(visible(typed.value));
    }
  },
);

test("questions that were answered", async () => {
  const settled = questions.map((question) =>
    question.type === "mcp_elicitation"
      ? {
          ...question,
          elicitationResponse: {
            action: "accept",
            content: { f1: `a${hidden}`, f9: "b" },
          } as const,
        }
      : question,
  );
  await show(
    settled.map((question, index) =>
      row(ask(`a${index}`, question, { ...answered, detail: "because" }), index),
    ),
  );
  await waitFor(() => expect(document.querySelectorAll(".step").length).toBeGreaterThan(3));
  expect(await unseen()).toEqual([]);
});

test("what a model says, and calls", async () => {
  const use = { id: "u1", name: "mail__send", serverName: "mail", toolName: "send", error: "no" };
  await show([
    row({ type: "user", text: "Go" }, 0),
    row(
      {
        type: "model",
        model: otherModel,
        text: "Hm",
        toolUses: [use],
        end: { reason: "failed", at, detail: "broken" },
      },
      1,
    ),
  ]);
  await screen.findAllByText(/broken/);
  expect(await unseen()).toEqual([]);
});

test("the lists of tasks, MCP tasks and open questions", async () => {
  const entry = {
    taskId: "t1",
    title: `First ${hidden}`,
    messageId: 1,
    time: at,
    call: hostile(call({ task: mcpTask({ statusMessage: "s" }) })),
  };
  const listed = {
    mcpTasks: [
      {
        serverName: "mail",
        mcpTaskId: `m${hidden}`,
        status: "working" as const,
        statusMessage: `s${hidden}`,
        createdAt: at,
        lastUpdatedAt: at,
      },
    ],
    problems: [{ serverName: "database", message: `silent${hidden}` }],
  };
  const asks = [hostile(openAsk(1))];
  const unattributed = [unattributedAsk("u1")].map(hostile);
  const { user } = await show([row(call(), 0)], {
    "mcpTask/list": () => ({ mcpTasks: [entry] }),
    "mcpTask/listOfServers": () => listed,
    "ask/list": () => ({ asks, unattributed }),
  });
  await user.click(await screen.findByRole("button", { name: /^First/ }));
  await screen.findByRole("combobox", { name: /^Find tasks/ });
  expect(await unseen()).toEqual([]);
  await user.keyboard("{Escape}");
  await chooseInHead(user, /^MCP Tasks/);
  await screen.findByText(/^Only on the servers/);
  expect(await unseen()).toEqual([]);
  await user.click(await screen.findByRole("button", { name: /^Open Questions/ }));
  await screen.findByText("Of no task yet");
  expect(await unseen()).toEqual([]);
});

test("what a server offers", async () => {
  const prompt = {
    name: "review",
    title: "t",
    description: "d",
    arguments: [{ name: "a", description: "d" }],
  };
  const { user } = await show([], {
    "tools/list": () => ({ tools: [{ ...hostile(tool), fields: hostile(fields) }] }),
    "resources/list": () => ({
      resources: [hostile({ uri: "x://y", name: "n", title: "t", description: "d" })],
    }),
    "resources/templates/list": () => ({
      resourceTemplates: [hostile({ uriTemplate: "x://{day}", name: "day", description: "d" })],
    }),
    "prompts/list": () => ({
      prompts: [{ ...hostile(prompt), arguments: hostile(prompt.arguments) }],
    }),
  });
  await user.selectOptions(await screen.findByRole("combobox", { name: "Server" }), "database");
  await screen.findByRole("tab", { name: "Tools", selected: true });
  const chosen = screen.getByRole<HTMLSelectElement>("combobox", { name: "Tool" });
  await user.selectOptions(chosen, within(chosen).getAllByRole("option").at(-1) ?? "");
  expect(await unseen()).toEqual([]);
  await user.click(screen.getByRole("tab", { name: "Resources" }));
  expect(await unseen()).toEqual([]);
  await user.click(screen.getByRole("tab", { name: "Prompts" }));
  const prompts = await screen.findByRole("combobox", { name: "Prompt" });
  await user.selectOptions(prompts, within(prompts).getAllByRole("option").at(-1) ?? "");
  expect(await unseen()).toEqual([]);
});
