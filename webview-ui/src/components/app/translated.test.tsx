import type {
  Body,
  Call,
  CallResult,
  Field,
  Message,
  OutcomeReason,
  PolicyEntry,
  Task,
} from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import * as l10n from "@vscode/l10n";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { json } from "../../lib/format.ts";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead } from "../../testing/menu.ts";
import { loadPseudoLocale, notOurs, untranslated } from "../../testing/pseudoLocale.ts";
import {
  answered,
  ask,
  at,
  call,
  callTool,
  demoModel,
  elicitation,
  grantEntry,
  mcpTask,
  message,
  openAsk,
  otherModel,
  permission,
  policyEntries,
  sampling,
  samplingReview,
  server,
  setupPlan,
  task,
  tool,
  toolRequest,
  unattributedAsk,
  urlElicitation,
} from "../../testing/samples.ts";
import { askJSON } from "../ask/askJSON.ts";

// The panel in a language in which each of its own texts is in brackets. A text without brackets cannot be
// translated: it does not come from l10n.t, or the bundle does not have it.

vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

beforeAll(loadPseudoLocale);
afterAll(() => l10n.config({ contents: {} }));
beforeEach(() => {
  vi.useFakeTimers({ now: at + 90_000, toFake: ["Date"] });
});

type Handlers = NonNullable<ConstructorParameters<typeof FakeHost>[2]>;

const fields: readonly Field[] = [
  { type: "string", name: "f1", title: "Reason", required: true, minLength: 2 },
  { type: "string", name: "f2", title: "Password", secret: true },
  { type: "string", name: "f3", title: "Mail", format: "email" },
  { type: "number", name: "f4", title: "Amount", minimum: 1, maximum: 9, required: true },
  { type: "boolean", name: "f5", title: "Really" },
  { type: "choice", name: "f6", title: "Color", options: [{ value: "red" }, { value: "blue" }] },
  { type: "choice", name: "f7", title: "Row", options: many("row") },
  { type: "choices", name: "f8", title: "Sizes", minItems: 1, options: [{ value: "small" }] },
  {
    type: "list",
    name: "f10",
    title: "Tags",
    minItems: 1,
    maxItems: 2,
    required: true,
    item: { type: "string", name: "" },
  },
  { type: "json", name: "f9", title: "Filter", schema: {} },
];

function many(name: string) {
  return Array.from({ length: 30 }, (_, index) => ({ value: `${name}${index}` }));
}

const models = [
  demoModel,
  { ...otherModel, inputCost: 3, outputCost: 15, cannot: ["temperature", "audio"] as const },
];

/** The texts of servers and models in these tests. A URL is drawn in its parts. */
const always = [
  [fields, models, tool, task(), server(), server({ name: "mail" })],
  ["https://login.", "example.com", "/device?code=42"],
  askJSON(urlElicitation()),
];

/** The host of a panel that shows this, and the panel. */
async function show(messages: readonly Message[], of: Partial<Task> = {}, handlers: Handlers = {}) {
  const host = new FakeHost(task({ lastNumber: messages.length, ...of }), messages, {
    "host/ready": () => ({
      status: { state: "running" },
      imports: true,
    }),
    "model/list": () => ({ models }),
    "tools/list": () => ({ tools: [tool] }),
    ...handlers,
  });
  host.servers = [
    server({ protocolVersion: "2025-11-25" }),
    server({ name: "mail", source: "settings", transport: "http", state: "stopped" }),
  ];
  const storage = new MemoryStorage();
  storage.saved = { openTaskId: host.task.id, runner: { open: true } };
  return { host, ...showApp(host, storage) };
}

/** Opens every fold, and fails for each text that is not translated. */
async function expectTranslated(fixtures: unknown, root = document.body): Promise<void> {
  for (let round = 0; round < 6; round++) {
    const folded = [...root.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
    if (folded.length === 0) break;
    for (const details of folded) details.open = true;
    await waitFor(() => {
      for (const details of folded)
        expect(details.querySelector(".disclosure-body")).not.toBeNull();
    });
  }
  const known = notOurs([always, fixtures]);
  expect(untranslated(root, known)).toEqual([]);
}

const ours = (name: string) => new RegExp(`^⟦${name}`);
const button = (name: string) => screen.findByRole("button", { name: ours(name) });

function row(body: Body, index: number): Message {
  return message(index + 1, body);
}

test("no task, with servers", async () => {
  await show([], {}, { "task/list": () => ({ tasks: [] }) });
  await screen.findByText(ours("Your servers can ask"));
  await screen.findByRole("list", { name: ours("Suggestions") });
  await expectTranslated(undefined);
});

test("no task, no server and no model", async () => {
  await show(
    [],
    {},
    {
      "host/ready": () => ({ status: { state: "running" }, imports: true, setsUp: true }),
      "task/list": () => ({ tasks: [] }),
      "server/list": () => ({}),
      "model/list": () => ({ models: [demoModel] }),
    },
  );
  await screen.findByRole("region", { name: ours("First steps") });
  await expectTranslated(undefined);
});

test("no task, without servers, and problems of the host", async () => {
  const { host } = await show([], {}, { "task/list": () => ({ tasks: [] }) });
  host.servers = [];
  await host.tell("host/sidecarStatus", { state: "failed", reason: "exit 1" });
  await screen.findByText(ours("Assent is not running"));
  await expectTranslated("exit 1");
  await host.tell("host/sidecarStatus", { state: "restarting", retryInMs: 5000, reason: "exit 1" });
  await screen.findByText(ours("Assent stopped"));
  await expectTranslated("exit 1");
  await host.tell("host/sidecarStatus", { state: "starting" });
  await screen.findByText(ours("Assent is starting"));
  await expectTranslated("exit 1");
});

test("a server that waits for a decision", async () => {
  const definition = { transport: "stdio", command: "npx", args: ["x"], cwd: "/ws" } as const;
  const hides = { source: "/me/mcp.json", line: 7, definition };
  const earlier = { ...definition, command: "node", env: [{ name: "A", value: "1" }] };
  const asked = { serverName: "shop", source: "/ws/mcp.json", line: 3, definition, hides, earlier };
  const { host } = await show([]);
  await host.tell("host/confirmations", { confirmations: [{ id: "a", server: asked }] });
  await button("Run It");
  const text = document.querySelector(".server-definition")?.textContent ?? "";
  for (const line of text.split("\n")) expect(line).toMatch(/^$|^⟦/);
  await expectTranslated([asked, text]);
});

const pixel = "iVBORw0KGgo=";
const results: readonly CallResult[] = [
  { type: "result", content: [{ type: "text", text: "12 rows" }], structuredContent: { rows: 12 } },
  { type: "result", isError: true },
  { type: "result", removedAfter: 7 },
  { type: "prompt", messages: [{ role: "user", content: { type: "text", text: "Review" } }] },
  { type: "prompt" },
  { type: "error", code: -32603, message: "broken", data: { why: "disk" } },
  { type: "cancelled" },
  { type: "abandoned", reason: "gone" },
  { type: "lost", reason: "lost link" },
  {
    type: "result",
    content: [
      { type: "image", mimeType: "image/png", data: pixel },
      { type: "image", mimeType: "image/bmp", data: pixel },
      { type: "image", mimeType: "image/svg+xml", data: btoa("12 rows") },
      { type: "audio", mimeType: "audio/wav", data: pixel },
      { type: "resource", resource: { uri: "db://x", mimeType: "x/y", blob: pixel } },
    ],
  },
];

test("calls, however they are and ended", async () => {
  const running: readonly Partial<Call>[] = [
    { request: callTool({ older: "2024" }), progress: { progress: 3, total: 12, at } },
    { progress: { progress: 7, at } },
    { request: { type: "resources/read", uri: "db://rows/7" } },
    { request: { type: "prompts/get", promptName: "review", arguments: { table: "rows" } } },
    { request: { type: "tasks/result", mcpTaskId: "786512e2" } },
    { task: mcpTask({ expiresAt: at + 100_000 }) },
    { task: mcpTask({ status: "input_required", problem: "no answer" }) },
    { task: mcpTask({ cancelling: true, expiresAt: at - 100 }) },
    { task: mcpTask({ status: "completed" }) },
    { task: mcpTask({ status: "failed" }) },
  ];
  const rows = [
    ...running.map((part) => call(part)),
    ...results.map((result) => call({ endedAt: at + 1501, result })),
  ].map(row);
  await show(rows);
  await screen.findByText(/broken/);
  await expectTranslated(rows);
});

test("messages that cannot be drawn", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {}); // where React tells of it
  const hologram = { type: "hologram", serverName: "database" } as never;
  const rows = [
    call({ request: hologram }),
    ask("a1", hologram),
    ask("a2", hologram, answered),
  ].map(row);
  await show(rows);
  await screen.findAllByText(ours("This message cannot be shown"));
  await expectTranslated([
    rows,
    `unexpected ${JSON.stringify(hologram)}`,
    rows.map((message) => json(message)),
  ]);
});

test("a panel that cannot be drawn", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  await show([message(1, null as never)]);
  const { textContent } = await screen.findByRole("alert");
  await expectTranslated(textContent?.replace(/^.*: /, ""));
});

const reasons = [
  "endTurn",
  "maxTokens",
  "refused",
  "stopped",
  "failed",
  "roundsLimit",
  "interrupted",
] as const;

test("a conversation between the person and the model", async () => {
  const text = { type: "text", text: "class A {}" } as const;
  const use = { id: "u1", name: "mail__send", serverName: "mail", toolName: "send", error: "no" };
  const said: readonly Body[] = [
    { type: "attachment", name: "notes.txt", content: text },
    { type: "user", text: "Go", attachments: [1] },
    { type: "notice", level: "info", text: "moved" },
    {
      type: "notice",
      level: "warning",
      text: "not available",
      unavailable: [
        { serverName: "database", reason: "gone" },
        { serverName: "mail", reason: "gone" },
      ],
    },
    ...reasons.map(
      (reason): Body => ({
        type: "model",
        model: otherModel,
        text: "Hm ![](x)\n\n```\ncode\n```",
        toolUses: [use, { id: "u2", name: "other", error: "no" }],
        end: { reason, at },
        usage: { inputTokens: 1, outputTokens: 20, estimated: true, cost: 0.001 },
        leftOut: { messages: 2, toolResults: 1, tools: 3 },
      }),
    ),
    { type: "model", model: otherModel },
  ];
  const rows = said.map(row);
  const queue = [{ id: "q1", text: "Then", attachments: [1] }];
  const { user, host } = await show(rows, { running: true, queue });
  await screen.findByText("Then");
  await expectTranslated([rows, queue]);
  await host.event({
    type: "messageAdded",
    message: row({ type: "user", text: "B", replaces: 2 }, 20),
  });
  await screen.findByRole("button", { name: /replaced/ });
  await expectTranslated([rows, queue, "B"]);
  await user.click(screen.getByRole("button", { name: /replaced/ }));
  await expectTranslated([rows, queue, "B"]);
});

test.each(reasons)(
  "the way on after a message that ended as %s, and another message",
  async (reason) => {
    const said = row({ type: "user", text: "Go" }, 0);
    const rows = [
      said,
      row({ type: "model", model: otherModel, text: "Hm", end: { reason, at } }, 1),
    ];
    const { user } = await show(rows);
    await user.click(await button("Edit and Resend"));
    await user.keyboard("{Control>}f{/Control}");
    await user.type(await screen.findByRole("textbox", { name: ours("Find in this task") }), "H");
    await expectTranslated(rows);
  },
);

test("a request while a model answers it, and after", async () => {
  const progress = { text: "So", sequence: 2 };
  const response = {
    type: "response",
    role: "assistant",
    content: [{ type: "text", text: "Low." }],
    model: "gpt",
  } as const;
  const parts = [
    {},
    { progress },
    { progress, inReview: true },
    ...["maxTokens", "stopSequence", "toolUse", "userStopped", "odd"].map((stopReason) => ({
      result: { ...response, stopReason },
    })),
    { result: { type: "failure", reason: "broken" } as const },
  ];
  const rows = parts.flatMap((part, index) => [
    row(ask(`a${index}`, sampling(part), answered), 2 * index),
    row(
      ask(`g${index}`, sampling({ ...part, model: otherModel }), { reason: "granted", at }),
      2 * index + 1,
    ),
  ]);
  await show(rows);
  await screen.findAllByText("broken");
  await expectTranslated(rows);
});

const questions = [
  elicitation(fields, {
    elicitationResponse: { action: "accept", content: { f1: "", f5: true, f8: [] } },
  }),
  urlElicitation({ awaitsCompletion: true }),
  sampling({
    samplingRequest: {
      ...toolRequest,
      temperature: 1,
      stopSequences: ["END"],
      systemPrompt: "Brief.",
      metadata: { trace: 1 },
      modelPreferences: { hints: [{ name: "gpt" }, { name: "big" }], costPriority: 0.5 },
    },
    sentRequest: { messages: [], maxTokens: 10, systemPrompt: "Short." },
    usage: { inputTokens: 1, outputTokens: 1 },
    result: { type: "withheld", reason: "never" },
  }),
  samplingReview(),
  {
    type: "use_mcp_tool",
    serverName: "mail",
    toolUse: { messageId: 1, toolUseId: "u" },
    tool,
    arguments: {},
  },
  {
    type: "access_mcp_resource",
    serverName: "mail",
    toolUse: { messageId: 1, toolUseId: "u" },
    uri: "db://x",
  },
  { type: "repeat_mcp_call", serverName: "mail", toolNames: ["send"], reason: "could not ask" },
  permission({ command: "git push", claim: "Push", input: "{}" }),
  permission({ changes: [{ path: "a.txt", old: "a", new: "b", all: true }], input: "{}" }),
  permission({ changes: [{ path: "a.txt", new: "b" }], agent: "tester", input: "{}" }),
  permission({ tool: "WebFetch", input: "{}" }),
] as const;

const outcomes: readonly OutcomeReason[] = [
  "answered",
  "declined",
  "dismissed",
  "regenerated",
  "timedOut",
  "serverStoppedWaiting",
  "callEnded",
  "serverLost",
  "completed",
  "granted",
  "answeredInHost",
  "hostStoppedWaiting",
  "restarted",
  "noFrontEnd",
  "denied",
];

test.each(outcomes)("every question that ended as %s", async (reason) => {
  const rows = questions.map((question, index) =>
    row(
      ask(`a${index}`, question, { ...answered, reason, completedAt: at + 5, declinedAll: true }),
      index,
    ),
  );
  await show(rows);
  await waitFor(() => expect(document.querySelectorAll(".step").length).toBeGreaterThan(4));
  await expectTranslated([rows, "VS Code"]);
});

test.each(questions.map((question) => [question.type, question] as const))(
  "an open %s",
  async (_type, question) => {
    const open = { ...question };
    if (open.type === "mcp_sampling") {
      Object.assign(open, {
        sentRequest: undefined,
        result: undefined,
        usage: undefined,
        model: models[1],
        modelReason: "chosen",
        grantReason: "too much",
        secrets: [{ description: "a key", text: "What is the weather in Paris?" }],
        context: { text: "earlier", serverNames: ["mail"], omitted: 2 },
      });
    }
    const rows = [
      row({ ...ask("a1", open), expiresAt: at + 200_000, waitsUntil: at + 300_000 }, 0),
    ];
    const { user } = await show(rows, { openAsks: 1 });
    await screen.findAllByRole("button", {
      name: /^⟦(Decline|Deny|Leave It as It Failed|Withhold)⟧/,
    });
    await expectTranslated([rows, "What…ris?"]);
    for (const name of ["Edit", "Approve and Allow", "Submit"]) {
      const found = screen.queryAllByRole("button", { name: ours(name) });
      for (const one of found) await user.click(one);
      await expectTranslated([rows, "What…ris?"]);
    }
  },
);

test("the list of servers, and the page of each", async () => {
  const since = at + 1;
  const inspection = {
    line: 4,
    launch: {
      path: "/usr/bin/db",
      foundBy: "PATH",
      manager: "nvm",
      args: ["--all"],
      cwd: "/srv",
      envNames: ["HOME"],
      searched: ["/bin"],
      nearMisses: ["dbx"],
    },
    handshake: {
      era: "legacy",
      protocolVersion: "2025-11-25",
      name: "db",
      instructions: "Ask.",
    },
    connections: [
      { since, pid: 3, openAsks: 2 },
      { taskId: "t1", title: "First", since },
    ],
    calls: [{ taskId: "t1", messageId: 1, since }],
    counts: { tools: 1, resources: 2, prompts: 3 },
    lastFailure: { at, reason: "died", exitCode: 2, stderr: ["oh"], stdout: ["hi"] },
    log: [
      { at, from: "stderr", text: "line" },
      { at, from: "stdout", text: "line" },
      { at, from: "message", level: "info", text: "line" },
      { at, from: "assent", text: "line" },
    ],
    logDropped: 9,
    ports: [
      { port: 80, listening: true, by: [{ pid: 9, name: "node", since, own: true }] },
      { port: 81, listening: true },
      { port: 82, listening: false },
    ],
    orphans: [{ pid: 8, name: "node" }],
    machineUnknown: true,
  } as const;
  const { user, host } = await show(
    [],
    {},
    {
      "server/inspect": ({ serverName }) => ({
        ...inspection,
        server: host.servers.find(({ name }) => name === serverName) ?? server(),
      }),
    },
  );
  await chooseInHead(user, ours("Servers"), ours("More Actions"));
  const region = await screen.findByRole("region", { name: ours("Servers") });
  await expectTranslated(inspection);
  await user.click(await within(region).findByRole("button", { name: /database/ }));
  await screen.findByText(ours("Last failure"));
  await expectTranslated(inspection);
});

test("what answers in the person's name, and the form of a new grant", async () => {
  const entries: readonly PolicyEntry[] = [
    grantEntry({
      id: "g0",
      maxTokens: 4000,
      maxCost: 0.5,
      spent: { requests: 3, tokens: 1, cost: 0, inFlight: 1 },
    }),
    grantEntry({
      ...{ id: "g2", maxRequests: 0, session: true, review: false },
      models: ["a", "b", "c", "d"],
    }),
    grantEntry({ id: "g3", endedAt: at + 1, toolName: "cleanup", models: ["*"] }),
    grantEntry({ id: "g4", spent: { requests: 10, tokens: 1, cost: 0 }, maxCost: 1, maxTokens: 9 }),
    grantEntry({ id: "g5", expiresAt: at - 1, models: ["a", "b"] }),
    ...policyEntries,
    {
      ...{ type: "samplingReview", effect: "approve", review: "firstFromServer" },
      setting: "assent.sampling.review",
    },
  ];
  const { user } = await show([], {}, { "policy/list": () => ({ entries }) });
  await chooseInHead(user, ours("Automatic Answers"), ours("More Actions"));
  const region = await screen.findByRole("region", { name: ours("Automatic Answers") });
  await within(region).findByText(ours("Always approved"));
  await user.click(within(region).getByRole("button", { name: ours("New Grant") }));
  await expectTranslated(entries);
});

test("the setup of other programs, and what it did", async () => {
  const restored = {
    files: (["put back", "removed", "merged", "untouched"] as const).map((how, index) => ({
      how,
      path: `/home/${index}`,
      notes: ["a note"],
    })),
    problems: [{ path: "/home/9", message: "gone" }],
  };
  const results = [setupPlan({ restorable: true }), restored];
  const { user } = await show(
    [],
    {},
    {
      "setup/plan": () => setupPlan({ restorable: true }),
      "setup/apply": () => ({ added: ["shop"], secrets: 2, files: ["/home/1", "/home/2"] }),
      "setup/restore": () => restored,
    },
  );
  await chooseInHead(user, ours("Set Up Hosts"), ours("More Actions"));
  await expectTranslated(results);
  await user.click(await button("Apply"));
  await screen.findByText(ours("Changed 2 files"));
  await expectTranslated([results, "/home/1", "/home/2"]);
  await user.click(await button("Restore All Files"));
  await screen.findByText(/⟦As it was before/);
  await expectTranslated(results);
});

test("MCP tasks, of every task and of the servers alone", async () => {
  const entries = (["working", "input_required", "completed", "failed", "cancelled"] as const).map(
    (status, index) => ({
      taskId: "t1",
      title: "First",
      messageId: index,
      time: at,
      call: call({
        task: mcpTask({ status }),
        ...(index > 2 && { endedAt: at, result: results[index] ?? { type: "cancelled" } }),
      }),
    }),
  );
  const listed = {
    mcpTasks: entries.map(({ call: { task: known } }, index) => ({
      serverName: "mail",
      mcpTaskId: `m${index}`,
      status: known?.status ?? "working",
      createdAt: at,
      lastUpdatedAt: at,
      expiresAt: at,
    })),
    problems: [{ serverName: "database", message: "silent" }],
  };
  const { user } = await show(
    [],
    {},
    {
      "mcpTask/list": () => ({ mcpTasks: entries }),
      "mcpTask/listOfServers": () => listed,
    },
  );
  await chooseInHead(user, ours("MCP Tasks"), ours("More Actions"));
  await screen.findByText(ours("Only on the servers"));
  await expectTranslated([entries, listed]);
});

test("the inbox, with questions of no task", async () => {
  const asks = questions.map(({ type }, index) => openAsk(index, { wants: type }));
  const unattributed = questions.map(({ type }, index) =>
    unattributedAsk(`u${index}`, { wants: type }),
  );
  const { user } = await show(
    [],
    {},
    {
      "ask/list": () => ({ asks, unattributed, truncated: true }),
    },
  );
  await user.click(await button("Open Questions"));
  await screen.findByText(ours("Of no task yet"));
  await expectTranslated([asks, unattributed]);
});

test("the use of a server, the composer's choices, and what can be done to a task", async () => {
  const offers = {
    tools: many("tool"),
    resources: many("notes").map(({ value }) => ({ uri: `x://${value}`, name: value, size: 2048 })),
    templates: [{ uriTemplate: "x://{day}", name: "day" }],
    prompts: many("prompt").map(({ value }) => ({ name: value })),
  };
  const { user } = await show(
    [],
    {},
    {
      "tools/list": () => ({
        tools: offers.tools.map(({ value }) => ({ ...tool, name: value, fields })),
      }),
      "resources/list": () => ({ resources: offers.resources }),
      "resources/templates/list": () => ({ resourceTemplates: offers.templates }),
      "prompts/list": () => ({ prompts: offers.prompts }),
    },
  );
  const select = await screen.findByRole("combobox", { name: ours("Server") });
  await user.selectOptions(select, "database");
  await screen.findByRole("tab", { name: ours("Tools"), selected: true });
  await user.selectOptions(screen.getByRole("combobox", { name: ours("Tool") }), "tool3");
  await user.click(await button("Run⟧"));
  await expectTranslated(offers);
  await user.click(screen.getByRole("tab", { name: ours("Resources") }));
  await expectTranslated(offers);
  await user.click(screen.getByRole("tab", { name: ours("Prompts") }));
  await user.selectOptions(
    await screen.findByRole("combobox", { name: ours("Prompt") }),
    "prompt2",
  );
  await expectTranslated(offers);
  for (const name of ["Add Context", "Servers:", "More Actions"]) {
    await user.click(await button(name));
    await expectTranslated(offers);
    await user.keyboard("{Escape}");
  }
  await chooseInHead(user, ours("Rename Task"), ours("More Actions"));
  await expectTranslated(offers);
  await user.keyboard("{Escape}");
  await chooseInHead(user, ours("Close Task"), ours("More Actions"));
  await expectTranslated(offers);
});

test("the list of tasks, and the question before one is deleted", async () => {
  const rows = [row(call(), 0)];
  const { user } = await show(rows, { openAsks: 2, running: true });
  await user.click(await screen.findByRole("button", { name: "First" }));
  await user.type(screen.getByRole("combobox", { name: ours("Find tasks") }), "x");
  await expectTranslated(rows);
  await user.keyboard("{Escape}");
  await chooseInHead(user, ours("Delete Task"), ours("More Actions"));
  await screen.findByText(ours("Close and delete this task"));
  await expectTranslated(rows);
});

test("a task that is closed", async () => {
  const rows = [row(call(), 0)];
  await show(rows, { closed: true });
  await screen.findAllByText(ours("This task is closed"));
  await expectTranslated(rows);
});

test("problems of the answers in a form", async () => {
  const rows = [row(ask("a1", elicitation(fields)), 0)];
  const { user } = await show(rows, { openAsks: 1 });
  await user.type(await screen.findByRole("textbox", { name: /^Reason/ }), "a");
  await user.type(screen.getByRole("textbox", { name: /^Mail/ }), "a");
  await user.type(screen.getByRole("textbox", { name: /^Amount/ }), "0");
  await user.type(screen.getByRole("textbox", { name: /^Filter/ }), "a");
  await user.click(await button("Submit"));
  await screen.findByText(ours("Not JSON"));
  await expectTranslated([rows, problemOf(() => JSON.parse("a"))]);
});

/** What the browser says, in its own language. */
function problemOf(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    return String(error);
  }
  return "";
}
