import { ErrorCode } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { isWrong } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import { server, task, tool } from "../../testing/samples.ts";

// The runner's resources and prompts, in the whole panel; its tools are in App.test.tsx.

const everything: ConstructorParameters<typeof FakeHost>[2] = {
  "tools/list": () => ({ tools: [tool] }),
  "resources/list": () => ({
    resources: [
      {
        uri: "notes://today",
        name: "today",
        title: "Today's notes",
        description: "What happened.",
        mimeType: "text/markdown",
        size: 2048,
      },
      { uri: "notes://empty", name: "empty", size: 0 },
    ],
  }),
  "resources/templates/list": () => ({
    resourceTemplates: [
      { uriTemplate: "notes://{day}{?format}", name: "notes", description: "Notes of a day." },
    ],
  }),
  "prompts/list": () => ({
    prompts: [
      {
        name: "review",
        title: "Review code",
        description: "Asks for a review.",
        arguments: [{ name: "language", required: true }, { name: "style" }],
      },
    ],
  }),
  "call/start": () => ({ messageId: 1 }),
  "completion/complete": ({ value }) => ({ values: [`${value}1`, `${value}2`] }),
};

function show(handlers: ConstructorParameters<typeof FakeHost>[2] = {}) {
  const host = new FakeHost(task(), [], { ...everything, ...handlers });
  host.servers = [server({ protocolVersion: "2025-11-25" })];
  const storage = new MemoryStorage();
  storage.saved = { runner: { open: true, serverName: "database" } };
  return { host, ...showApp(host, storage) };
}

const started = (request: unknown) => [{ taskId: "t1", serverName: "database", request }];

test("a number keeps its digits, though no number here can have so many", async () => {
  const number = { type: "number", name: "row", title: "Row", integer: true } as const;
  const { host, user } = show({
    "tools/list": () => ({ tools: [{ ...tool, fields: [number] }] }),
  });
  await screen.findByRole("tab", { name: "Tools", selected: true });
  await user.selectOptions(screen.getByRole("combobox", { name: "Tool" }), "cleanup");
  await user.type(await screen.findByRole("textbox", { name: "Row" }), "9007199254740993");
  await user.click(screen.getByRole("button", { name: "Run" }));
  const request = {
    type: "tools/call",
    toolName: "cleanup",
    arguments: { row: 9007199254740992 },
    argumentsText: '{"row":9007199254740993}',
  };
  await waitFor(() => expect(host.calls("call/start")).toEqual(started(request)));
});

test("for how long a server keeps an MCP task is chosen where a call becomes one", async () => {
  const { host, user, container } = show({
    "tools/list": () => ({ tools: [{ ...tool, fields: [], mcpTask: true }, { name: "other" }] }),
  });
  const choose = async (name: string) =>
    user.selectOptions(await screen.findByRole("combobox", { name: "Tool" }), name);
  const label = "The server keeps the result for";
  await screen.findByRole("tab", { name: "Tools", selected: true });
  await choose("other");
  await screen.findByRole("button", { name: "Run" });
  expect(screen.queryByRole("combobox", { name: label })).toBeNull();
  await choose("cleanup");
  const ttl = await screen.findByRole("combobox", { name: label });
  expect(within(ttl).getByRole<HTMLOptionElement>("option", { selected: true }).text).toBe(
    "7 days",
  );
  expect(await axeFindings(container)).toEqual([]);
  await user.selectOptions(ttl, "1 day");
  await user.click(screen.getByRole("button", { name: "Run" }));
  const request = { type: "tools/call", toolName: "cleanup", arguments: {}, taskTtl: 86_400_000 };
  await waitFor(() => expect(host.calls("call/start")).toEqual(started(request)));
});

test("arguments that a tool does not describe are written as a JSON object", async () => {
  const text = { type: "string", name: "day", title: "Day" } as const;
  const { host, user, container } = show({
    "tools/list": () => ({ tools: [{ ...tool, fields: [text], moreArguments: true }] }),
  });
  await screen.findByRole("tab", { name: "Tools", selected: true });
  await user.selectOptions(screen.getByRole("combobox", { name: "Tool" }), "cleanup");
  await user.type(await screen.findByRole("textbox", { name: "Day" }), "today");
  const more = screen.getByRole("textbox", { name: "Other arguments, as a JSON object" });
  await user.click(more);
  await user.paste("[1]");
  await user.click(screen.getByRole("button", { name: "Run" }));
  await screen.findByText('The other arguments must be a JSON object, such as {"a": 1}.');
  expect(await axeFindings(container)).toEqual([]);
  await user.clear(more);
  await user.paste('{"n":{"m":[1]}}');
  await user.click(screen.getByRole("button", { name: "Run" }));
  const request = {
    type: "tools/call",
    toolName: "cleanup",
    arguments: { n: { m: [1] }, day: "today" },
  };
  await waitFor(() => expect(host.calls("call/start")).toEqual(started(request)));
});

test("what is odd in the lists is said, also where nothing is left of them", async () => {
  const { container } = show({
    "tools/list": () => ({ problems: ["A tool is left out: its name is missing."] }),
    "resources/list": () => ({}),
    "resources/templates/list": () => ({}),
    "prompts/list": () => ({
      prompts: [{ name: "review" }],
      problems: ['The prompt "review": title is a number and must be a string.'],
    }),
  });
  await screen.findByText("A tool is left out: its name is missing.");
  await screen.findByText('The prompt "review": title is a number and must be a string.');
  expect(await axeFindings(container)).toEqual([]);
});

test("the tabs are one stop, and the arrows go between them", async () => {
  const { user, container, storage } = show();
  const tools = await screen.findByRole("tab", { name: "Tools", selected: true });
  screen.getByRole("combobox", { name: "Tool" });
  tools.focus();
  await user.keyboard("{ArrowRight}");
  const resources = screen.getByRole("tab", { name: "Resources", selected: true });
  expect(document.activeElement).toBe(resources);
  const panel = screen.getByRole("tabpanel", { name: "Resources" });
  expect(resources.getAttribute("aria-controls")).toBe(panel.id);
  expect(await axeFindings(container)).toEqual([]);
  await user.keyboard("{ArrowRight}{ArrowRight}");
  screen.getByRole("tab", { name: "Tools", selected: true });
  await user.keyboard("{End}");
  screen.getByRole("tab", { name: "Prompts", selected: true });
  expect(await axeFindings(container)).toEqual([]);
  expect(storage.saved).toMatchObject({ runner: { tab: "prompts" } });
  await user.keyboard("{Home}");
  await user.tab();
  expect(document.activeElement).toBe(screen.getByRole("combobox", { name: "Tool" }));
});

test("has tabs only for existing offers, and none for a single kind", async () => {
  const { unmount } = show({ "tools/list": () => ({}), "prompts/list": () => ({}) });
  await screen.findByRole("list", { name: "Resources" });
  expect(screen.queryByRole("tab")).toBeNull();
  unmount();
  show({ "resources/list": () => ({}), "resources/templates/list": () => ({}) });
  await screen.findByRole("tab", { name: "Prompts" });
  expect(screen.getAllByRole("tab").map(({ textContent }) => textContent)).toEqual([
    "Tools",
    "Prompts",
  ]);
});

test("a server that has nothing says so", async () => {
  const nothing = () => ({});
  show({
    "tools/list": nothing,
    "resources/list": nothing,
    "resources/templates/list": nothing,
    "prompts/list": nothing,
  });
  await screen.findByText("This server has no tools, no resources and no prompts.");
});

test("a list that cannot be read takes no other with it, and can be tried again", async () => {
  let broken = true;
  const { host, user } = show({
    "prompts/list": () => {
      if (broken) throw new ResponseError(ErrorCode.ServerFailed, "Its prompts cannot be read.");
      return { prompts: [{ name: "review" }] };
    },
  });
  await screen.findByRole("tab", { name: "Tools" });
  await screen.findByText("Its prompts cannot be read.");
  broken = false;
  await user.click(screen.getByRole("button", { name: "Try Again" }));
  await screen.findByRole("tab", { name: "Prompts" });
  expect(screen.queryByText("Its prompts cannot be read.")).toBeNull();
  await host.caughtUp();
  expect(host.calls("tools/list")).toHaveLength(1);
});

test("a resource is told with all that is known of it, and read at a press", async () => {
  const { host, user } = show();
  await user.click(await screen.findByRole("tab", { name: "Resources" }));
  const list = screen.getByRole("list", { name: "Resources" });
  within(list).getByRole("button", { name: /^empty notes:\/\/empty 0 B/ });
  await user.click(
    within(list).getByRole("button", {
      name: "Today's notes notes://today text/markdown, 2.0 kB What happened.",
    }),
  );
  const request = { type: "resources/read", uri: "notes://today" };
  await waitFor(() => expect(host.calls("call/start")).toEqual(started(request)));
});

test("many resources are filtered, and drawn as far as one can look", async () => {
  const resources = Array.from({ length: 3000 }, (_, n) => ({ uri: `x://${n}`, name: `r${n}` }));
  const { user } = show({ "resources/list": () => ({ resources }) });
  await user.click(await screen.findByRole("tab", { name: "Resources" }));
  const list = screen.getByRole("list", { name: "Resources" });
  expect(within(list).getAllByRole("listitem")).toHaveLength(50);
  screen.getByRole("button", { name: "Show all 3,000" });
  await user.type(screen.getByRole("searchbox", { name: "Filter the resources" }), "x://299");
  expect(within(list).getAllByRole("listitem")).toHaveLength(11);
});

test("a template is filled in with the server's help, and read", async () => {
  const { host, user, container } = show();
  await user.click(await screen.findByRole("tab", { name: "Resources" }));
  await user.selectOptions(screen.getByRole("combobox", { name: "Template" }), "notes");
  screen.getByText("Notes of a day.");
  await user.click(screen.getByRole("button", { name: "Read" }));
  await waitFor(() => expect(isWrong(screen.getByRole("combobox", { name: "day" }))).toBe(true));
  await user.type(screen.getByRole("combobox", { name: "day" }), "a day");
  await user.click(await screen.findByRole("option", { name: "a day2" }));
  expect(host.calls("completion/complete").at(-1)).toEqual({
    serverName: "database",
    uriTemplate: "notes://{day}{?format}",
    argumentName: "day",
    value: "a day",
    arguments: {},
  });
  expect(await axeFindings(container)).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Read" }));
  const request = { type: "resources/read", uri: "notes://a%20day2" };
  await waitFor(() => expect(host.calls("call/start")).toEqual(started(request)));
});

test("a prompt is filled in with the server's help, without empty arguments", async () => {
  const { host, user } = show();
  await user.click(await screen.findByRole("tab", { name: "Prompts" }));
  await user.selectOptions(
    screen.getByRole("combobox", { name: "Prompt" }),
    "Review code (review)",
  );
  screen.getByText("Asks for a review.");
  await user.type(screen.getByRole("combobox", { name: "language" }), "g");
  await user.click(await screen.findByRole("option", { name: "g1" }));
  expect(host.calls("completion/complete").at(-1)).toEqual({
    serverName: "database",
    promptName: "review",
    argumentName: "language",
    value: "g",
    arguments: {},
  });
  await user.click(screen.getByRole("button", { name: "Get Prompt" }));
  const request = { type: "prompts/get", promptName: "review", arguments: { language: "g1" } };
  await waitFor(() => expect(host.calls("call/start")).toEqual(started(request)));
});

test("a server that is stopped is not started by typing", async () => {
  const { host, user } = show();
  await user.click(await screen.findByRole("tab", { name: "Prompts" }));
  await user.selectOptions(
    screen.getByRole("combobox", { name: "Prompt" }),
    "Review code (review)",
  );
  await host.tell("server/changed", server({ state: "stopped" }));
  await screen.findByRole("option", { name: "database (stopped)" });
  await user.type(screen.getByRole("textbox", { name: "language" }), "g");
  await host.caughtUp();
  expect(host.calls("completion/complete")).toEqual([]);
});

test("lists that changed are read again: resources with their templates", async () => {
  const { host, user } = show();
  await user.click(await screen.findByRole("tab", { name: "Resources" }));
  await host.tell("server/itemsChanged", { serverName: "database", list: "resources" });
  await waitFor(() => expect(host.calls("resources/list")).toHaveLength(2));
  await waitFor(() => expect(host.calls("resources/templates/list")).toHaveLength(2));
  await host.caughtUp();
  expect(host.calls("prompts/list")).toHaveLength(1);
});

test("how a server is reached is said quietly, and why it is reached again", async () => {
  const { host } = show();
  await screen.findByText("stdio, MCP 2025-11-25");
  const reason = "Connecting again because the connection was lost.";
  await host.tell("server/changed", server({ transport: "http", state: "starting", reason }));
  await screen.findByText(reason);
  await screen.findByText("Streamable HTTP");
});
