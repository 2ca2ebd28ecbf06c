import type { Model, Server } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { call, demoModel, message, otherModel, task } from "../../testing/samples.ts";

const database: Server = {
  name: "database",
  source: "mcp.json",
  transport: "stdio",
  command: "database",
  state: "stopped",
};

interface World {
  readonly models?: readonly Model[];
  readonly servers?: readonly Server[];
  /** A task is open in which nothing was said yet. */
  readonly open?: boolean;
  /** The host is VS Code. */
  readonly vscode?: boolean;
  /** What the host knows to be possible with the demo model. */
  readonly prompts?: readonly string[];
}

function show({ models = [], servers = [], open = false, vscode = true, prompts }: World) {
  const host = new FakeHost(task(), [], {
    "host/ready": () => ({
      status: { state: "running" },
      ...(vscode && { imports: true, setsUp: true }),
      ...(prompts !== undefined && { prompts }),
    }),
    "host/chooseModel": () => null,
    "host/setModelApiKey": () => null,
    "host/openWalkthrough": () => null,
    "host/setExampleServer": () => null,
    "tools/list": () => ({ tools: [{ name: "cleanup", inputSchema: { type: "object" } }] }),
    "resources/list": () => ({ resources: [] }),
    "resources/templates/list": () => ({ resourceTemplates: [] }),
    "prompts/list": () => ({ prompts: [] }),
    "model/list": () => ({ models }),
    "task/create": () => task({ id: "t2" }),
    "call/start": () => ({ messageId: 1 }),
    ...(!open && { "task/list": () => ({}) }),
  });
  host.servers = servers;
  return { host, ...showApp(host) };
}

const steps = async () => within(await screen.findByRole("region", { name: "First steps" }));
const namesOf = (all: readonly HTMLElement[]) => all.map(({ textContent }) => textContent);

test.each([true, false])(
  "an empty workspace: every way to begin, with an open task: %s",
  async (open) => {
    const { container } = show({ models: [demoModel], open });
    expect(namesOf((await steps()).getAllByRole("button"))).toEqual([
      "Open MCP Configuration",
      "Import from Other Programs…",
      "Choose a Model…",
      "Set an API Key…",
      "Try the Example Server",
      "Open Walkthrough",
    ]);
    expect(screen.queryByRole("list", { name: "Suggestions" })).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  },
);

test("servers but no model: no message is suggested that nothing could answer", async () => {
  const { host, user } = show({ models: [demoModel], servers: [database] });
  const { getAllByRole, getByRole } = await steps();
  expect(namesOf(getAllByRole("button"))).toEqual([
    "Choose a Model…",
    "Set an API Key…",
    "Open Walkthrough",
  ]);
  expect(screen.queryByRole("list", { name: "Suggestions" })).toBeNull();
  await user.click(getByRole("button", { name: "Choose a Model…" }));
  await user.click(getByRole("button", { name: "Set an API Key…" }));
  await user.click(getByRole("button", { name: "Open Walkthrough" }));
  await waitFor(() => expect(host.calls("host/openWalkthrough")).toHaveLength(1));
  expect(host.calls("host/chooseModel")).toHaveLength(1);
  expect(host.calls("host/setModelApiKey")).toHaveLength(1);
});

test.each([
  { what: "a model", models: [demoModel, otherModel], first: /^What can you do/ },
  { what: "a script", models: [demoModel], prompts: ["Clean up"], first: "Clean up" },
])("with servers and $what, messages are suggested, and no step", async (world) => {
  show({ ...world, servers: [database] });
  const suggestions = await screen.findByRole("list", { name: "Suggestions" });
  within(suggestions).getByRole("button", { name: world.first });
  expect(screen.queryByRole("region", { name: "First steps" })).toBeNull();
});

test("the example server is added, and its question asked in a new task", async () => {
  const { host, user } = show({ models: [demoModel] });
  await user.click((await steps()).getByRole("button", { name: "Try the Example Server" }));
  await waitFor(() =>
    expect(host.calls("call/start")).toEqual([
      {
        taskId: "t2",
        serverName: "example-server",
        request: { type: "tools/call", toolName: "plan_lunch", arguments: {} },
      },
    ]),
  );
  expect(host.calls("host/setExampleServer")).toEqual([{ added: true }]);
});

test("the example server uses the open task if nothing happened in it", async () => {
  const { host, user } = show({ models: [demoModel], open: true });
  await user.click((await steps()).getByRole("button", { name: "Try the Example Server" }));
  await waitFor(() => expect(host.calls("call/start")).toMatchObject([{ taskId: "t1" }]));
  await host.caughtUp();
  expect(host.calls("task/create")).toEqual([]);
});

test("the host can ask for the example server, which does not disturb a conversation", async () => {
  const host = new FakeHost(task(), [message(1, call())], {
    "host/setExampleServer": () => null,
    "task/create": () => task({ id: "t2" }),
    "call/start": () => ({ messageId: 1 }),
  });
  showApp(host);
  await screen.findByRole("list", { name: "Messages" });
  await host.tell("host/reveal", { kind: "exampleServer" });
  await waitFor(() => expect(host.calls("call/start")).toMatchObject([{ taskId: "t2" }]));
});

const exampleServer: Server = { ...database, name: "example-server", source: "built in" };

test("a browser has the example server, and nothing that it cannot do", async () => {
  show({ models: [demoModel], servers: [exampleServer], vscode: false });
  expect(namesOf((await steps()).getAllByRole("button"))).toEqual(["Try the Example Server"]);
  expect(screen.queryByText(/^Your servers:/)).toBeNull();
});

test.each([
  { names: ["database"], said: "Your servers: database" },
  { names: ["git", "jira"], said: "Your servers: git and jira" },
  {
    names: ["a", "b", "c", "d", "e", "f", "g"],
    said: "Your servers: a, b, c, d, e, and 2 others",
  },
])("with servers of their own, a person reads $said", async ({ names, said }) => {
  const own = names.map((name) => ({ ...database, name }));
  show({ models: [demoModel], servers: [exampleServer, ...own], vscode: false });
  await screen.findByText(said);
  expect(screen.queryByRole("button", { name: "Try the Example Server" })).toBeNull();
  expect(screen.queryByRole("region", { name: "First steps" })).toBeNull();
});

test.each([
  { what: "no model", models: [demoModel] },
  { what: "a model", models: [demoModel, otherModel] },
])("with $what, a tool is run by hand, and the number of tools is known then", async (world) => {
  const { container, user } = show({ ...world, servers: [{ ...database, state: "running" }] });
  await user.click(await screen.findByRole("button", { name: "Run a Tool" }));
  const runner = within(await screen.findByRole("region", { name: "Use a server" }));
  await waitFor(() =>
    expect(document.activeElement).toBe(runner.getByRole("combobox", { name: "Server" })),
  );
  await screen.findByText("Your servers: database (1 tool)");
  expect(await axeFindings(container)).toEqual([]);
});

test("the page of the example server removes it", async () => {
  const { host, user } = show({
    models: [demoModel],
    servers: [exampleServer],
  });
  await steps();
  await host.tell("host/reveal", { kind: "servers", serverName: "example-server" });
  await user.click(await screen.findByRole("button", { name: "Remove Example Server" }));
  await waitFor(() => expect(host.calls("host/setExampleServer")).toEqual([{ added: false }]));
  screen.getByText("It is built into Assent.");
  expect(screen.queryByRole("button", { name: "Open Configuration" })).toBeNull();
});
