import type { Server, ServerInspection } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead, inHead } from "../../testing/menu.ts";
import {
  at,
  call,
  grantEntry,
  message,
  openAsk,
  server,
  task,
  tool,
} from "../../testing/samples.ts";

type Handlers = ConstructorParameters<typeof FakeHost>[2];

const broken = server({
  name: "mail",
  state: "failed",
  command: "npx mail",
  reason: 'the command "npx" was not found',
});

function hostOf(
  servers: readonly Server[],
  inspection: Partial<ServerInspection> = {},
  handlers: Handlers = {},
): FakeHost {
  const host = new FakeHost(task(), [message(1, call())], {
    "server/inspect": ({ serverName }) => ({
      server: host.servers.find(({ name }) => name === serverName) ?? broken,
      counts: {},
      ...inspection,
    }),
    ...handlers,
  });
  host.servers = servers;
  return host;
}

const button = (name: RegExp | string) => screen.findByRole("button", { name });
const list = () => screen.findByRole("region", { name: "Servers" });
const page = (name: string) => screen.findByRole("region", { name });

/** Opens the page of a server from the list. */
async function openPage(host: FakeHost, name: RegExp) {
  const app = showApp(host);
  await chooseInHead(app.user, /^Servers/);
  await app.user.click(await within(await list()).findByRole("button", { name }));
  return app;
}

describe("the list of servers", () => {
  test("says how each is, and how many failed", async () => {
    const host = hostOf([server({ protocolVersion: "2025-11-25" }), broken]);
    const { user, container } = showApp(host);
    await chooseInHead(user, "Servers (1 failed)");
    const region = await list();
    expect(document.activeElement).toBe(within(region).getByRole("heading", { level: 2 }));
    const items = await within(region).findAllByRole("button", { name: /stdio/ });
    expect(items.map((item) => item.textContent)).toEqual([
      "databaserunningstdio, MCP 2025-11-25",
      'mailfailedstdiothe command "npx" was not found',
    ]);
    expect(await axeFindings(container)).toEqual([]);
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("region", { name: "Servers" })).toBeNull();
    expect(document.activeElement).toBe(await button("More Actions"));
  });

  test("says that the organisation blocks a server, which cannot be started", async () => {
    const blocked = "Blocked by your organisation: /etc/vscode/policy.json, entry x.";
    const verdict = { kind: "blocked", text: blocked, wayOut: "Ask the administrators." } as const;
    const host = hostOf([server({ state: "stopped", blocked })], { verdict });
    await openPage(host, /blocked.*policy\.json, entry x/);
    const region = await page("database");
    await within(region).findByText(blocked);
    await within(region).findByText("Ask the administrators.");
    expect(within(region).queryByRole("button", { name: "Start" })).toBeNull();
    expect(await axeFindings(region)).toEqual([]);
  });

  test("says what the start of a server waits for", async () => {
    const { user } = showApp(hostOf([server({ state: "starting", reason: "It waits." })]));
    await chooseInHead(user, "Servers");
    await within(await list()).findByRole("button", { name: /It waits\.$/ });
  });

  test("leads to a page and back, by the keyboard alone", async () => {
    const host = hostOf([server(), broken]);
    const { user } = showApp(host);
    (await inHead(user, /^Servers/)).focus();
    await user.keyboard("{Enter}");
    await within(await list()).findByRole("button", { name: /^mail/ });
    await user.tab();
    await user.tab();
    await user.keyboard("{Enter}");
    await waitFor(async () =>
      expect(document.activeElement).toBe(screen.getByRole("heading", { name: "mail" })),
    );
    await user.keyboard("{Escape}");
    const item = await within(await list()).findByRole("button", { name: /^mail/ });
    expect(document.activeElement).toBe(item);
  });

  test("is opened by the host's command, and one page of it too", async () => {
    const host = hostOf([server(), broken]);
    showApp(host);
    await button(/^Servers/);
    await host.tell("host/reveal", { kind: "servers" });
    await list();
    await host.tell("host/reveal", { kind: "servers", serverName: "mail" });
    await page("mail");
    await host.tell("host/reveal", { kind: "servers", serverName: "gone" });
    await within(await list()).findByText("The server “gone” is no longer configured.");
  });

  test("is reached from the runner, with the server that is chosen there", async () => {
    const { user } = showApp(hostOf([broken]));
    const runner = await screen.findByRole("region", { name: "Use a server" });
    await user.selectOptions(within(runner).getByLabelText("Server"), "mail");
    await user.click(within(runner).getByRole("button", { name: "Why?" }));
    await page("mail");
  });
});

describe("the page of a server", () => {
  test("warns of a variable that is not set, though the server runs", async () => {
    const warning = '"KEY" in "env" refers to a variable that is not set.';
    const { container } = await openPage(hostOf([server()], { warnings: [warning] }), /^database/);
    await within(await page("database")).findByText(warning);
    expect(await axeFindings(container)).toEqual([]);
  });

  test("says why it does not start, and where its program was looked for", async () => {
    const host = hostOf([broken], {
      line: 4,
      verdict: {
        kind: "notFound",
        text: 'The program "npx" was not found in any of 2 folders.',
        wayOut: "Install Node.js, which npx comes with.",
      },
      launch: {
        args: ["-y", "a mail"],
        envNames: ["TOKEN"],
        searched: ["/usr/bin", "/opt"],
        nearMisses: ["There is /opt/bunx."],
        problem: "It was not found.",
      },
      lastFailure: { at, reason: "not found", exitCode: 127, stderr: ["sh: npx"] },
    });
    const { user, container } = await openPage(host, /^mail/);
    const region = await page("mail");
    await within(region).findByText('The program "npx" was not found in any of 2 folders.');
    within(region).getByText("Install Node.js, which npx comes with.");
    within(region).getByText('-y "a mail"');
    within(region).getByText(/^TOKEN/);
    within(region).getByText("There is /opt/bunx.");
    await user.click(within(region).getByText("Searched 2 folders"));
    within(region).getByText(/\/usr\/bin/);
    await user.click(within(region).getByText(/^Last failure/));
    within(region).getByText("Exit code 127.");
    await user.click(within(region).getByRole("button", { name: "Open Configuration" }));
    await waitFor(() =>
      expect(host.calls("host/openConfiguration")).toEqual([{ source: "mcp.json", line: 4 }]),
    );
    expect(await axeFindings(container)).toEqual([]);
  });

  test("shows the person's own server that it hides, with each hidden character named", async () => {
    const own = {
      transport: "stdio",
      command: "npx",
      args: ["-y", "mail\u202e"],
      env: [{ name: "A", value: "b\nc" }],
    } as const;
    const host = hostOf([
      server({ name: "mail", hides: { source: "/me/mcp.json", line: 7, definition: own } }),
    ]);
    await openPage(host, /^mail/);
    const said = await within(await page("mail")).findByText(/^It hides your own server/);
    expect(said.textContent).toBe(
      [
        "It hides your own server of the same name, which is in /me/mcp.json:7:",
        "Transport: stdio",
        "Command: npx",
        'Arguments: ["-y","mail[U+202E]"]',
        String.raw`Environment: A=b\nc`,
      ].join("\n"),
    );
  });

  test("starts, stops and restarts it, and looks again when it changed", async () => {
    const running = server({ name: "mail" });
    const becomes = (now: Server) => () => {
      void host.tell("server/changed", now);
      return now;
    };
    const host: FakeHost = hostOf(
      [broken],
      {},
      {
        "server/start": becomes(running),
        "server/stop": becomes(server({ name: "mail", state: "stopped" })),
        "server/restart": becomes(running),
      },
    );
    const { user } = await openPage(host, /^mail/);
    const region = await page("mail");
    const press = (name: string) =>
      within(region)
        .findByRole("button", { name })
        .then((found) => user.click(found));
    await press("Start");
    expect(region.contains(document.activeElement)).toBe(true);
    await press("Restart");
    await press("Stop");
    await within(region).findByRole("button", { name: "Start" });
    expect(document.activeElement?.textContent).toBe("stoppedstdio");
    expect(host.calls("server/start")).toEqual([{ serverName: "mail" }]);
    expect(host.calls("server/restart")).toEqual([{ serverName: "mail" }]);
    expect(host.calls("server/stop")).toEqual([{ serverName: "mail" }]);
    await waitFor(() => expect(host.calls("server/inspect").length).toBeGreaterThan(1));
    const before = host.calls("server/inspect").length;
    await host.tell("server/changed", running);
    await waitFor(() => expect(host.calls("server/inspect").length).toBeGreaterThan(before));
  });

  test("that fails to start says so once, on its page", async () => {
    const host = hostOf(
      [server({ name: "mail", state: "stopped" })],
      {},
      {
        "server/start": () => {
          throw new ResponseError(-32107, "The MCP server cannot be used.");
        },
      },
    );
    const { user } = await openPage(host, /^mail/);
    await user.click(await button("Start"));
    await waitFor(() => expect(host.calls("server/start")).toHaveLength(1));
    await host.tell("server/changed", broken);
    await within(await page("mail")).findByText('the command "npx" was not found');
    expect(screen.queryByText("The MCP server cannot be used.")).toBeNull();
  });

  test("shows its activity: connections, questions, and calls that lead to their rows", async () => {
    const host = hostOf(
      [server()],
      {
        connections: [{ taskId: "t1", title: "Old", since: at, pid: 42, openAsks: 1 }],
        calls: [{ taskId: "t1", messageId: 1, toolName: "cleanup", since: Date.now() - 5000 }],
      },
      { "ask/list": () => ({ asks: [openAsk(2)] }) },
    );
    const { user } = await openPage(host, /^database/);
    const region = await page("database");
    await within(region).findByText(/process 42, for First, 1 question waiting for you/);
    const calls = within(region).getByRole("list", { name: "Running calls" });
    await user.click(within(calls).getByRole("button", { name: /^cleanup .*in First/ }));
    await waitFor(() => expect(document.activeElement?.id).toBe("message-1"));
  });

  test("reads a list of its offers when that is opened, and does not start the server for it", async () => {
    const host = hostOf(
      [server({ state: "stopped" })],
      { counts: { tools: 1 } },
      {
        "tools/list": () => ({ tools: [tool] }),
      },
    );
    const { user } = await openPage(host, /^database/);
    const region = await page("database");
    await user.click(await within(region).findByText("Tools (1)"));
    within(region).getByText("Listed when the server is running.");
    await host.caughtUp();
    expect(host.calls("tools/list")).toEqual([]);
    await host.tell("server/changed", server());
    await within(region).findByText("cleanup");
    expect(host.calls("tools/list")).toEqual([{ serverName: "database" }]);
    await host.caughtUp();
    expect(host.calls("prompts/list")).toEqual([]);
  });

  test("shows its log letter by letter, and copies it", async () => {
    const host = hostOf([server()], {
      log: [
        { at, from: "stderr", text: "ready <b>\u202enow</b>" },
        { at, from: "message", level: "warning", text: "slow" },
      ],
      logDropped: 7,
    });
    const { user, container } = await openPage(host, /^database/);
    const log = await screen.findByRole("log", { name: "Log of database" });
    expect(log.textContent).toMatch(/stderr ready <b>\[U\+202E\]now<\/b>\n.* log warning slow$/);
    screen.getByText("7 older lines were dropped.");
    await user.click(screen.getByRole("button", { name: "Copy Log" }));
    expect(await navigator.clipboard.readText()).toBe(log.textContent);
    expect(await axeFindings(container)).toEqual([]);
  });

  test("shows the end of a long log, and all of it on demand", async () => {
    const lines = Array.from({ length: 30 }, (_, n) => ({
      ...({ at, from: "stderr", text: `line ${n}` } as const),
    }));
    const { user } = await openPage(hostOf([server()], { log: lines }), /^database/);
    const log = await screen.findByRole("log", { name: "Log of database" });
    expect(log.textContent).toMatch(/^\S+ stderr line 10\n/);
    await user.click(screen.getByRole("button", { name: "Show all 30 lines" }));
    expect(log.textContent).toMatch(/^\S+ stderr line 0\n/);
  });

  test("names the process on its port, leftover processes, and the server's own information", async () => {
    const host = hostOf([broken], {
      endpoint: { url: "http://localhost:3000/mcp", headerNames: ["X-Key"] },
      ports: [
        { port: 3000, listening: true, by: [{ pid: 7, name: "node" }] },
        { port: 3001, listening: false },
      ],
      orphans: [{ pid: 9, name: "node", since: at }],
      machineUnknown: true,
      handshake: {
        era: "modern",
        protocolVersion: "2026-07-28",
        name: "mail",
        capabilities: ["tools", "tools.listChanged"],
        instructions: "Be kind.",
      },
    });
    const { user } = await openPage(host, /^mail/);
    await screen.findByText("used by node (process 7)");
    screen.getByText("nothing listens");
    screen.getByText(/^node \(process 9 since/);
    screen.getByText(/on Linux only/);
    screen.getByText("tools, tools.listChanged");
    await user.click(screen.getByText("Instructions for a model"));
    screen.getByText("Be kind.");
  });

  test("leads to the automatic answers, and counts those of the server", async () => {
    const host = hostOf(
      [server()],
      {},
      {
        "policy/list": () => ({
          entries: [grantEntry(), grantEntry({ id: "g2", serverName: "mail" })],
        }),
      },
    );
    const { user } = await openPage(host, /^database/);
    await within(await page("database")).findByText(/^1 automatic answer applies to this server\./);
    await user.click(await button("Show Automatic Answers"));
    await screen.findByRole("region", { name: "Automatic Answers" });
  });

  test("that cannot be read says why, and can be read again", async () => {
    let fail = true;
    const host = hostOf(
      [server()],
      {},
      {
        "server/inspect": () => {
          if (fail) throw new ResponseError(-32603, "The hub is closed.");
          return { server: server(), counts: {} };
        },
      },
    );
    const { user } = await openPage(host, /^database/);
    await screen.findByText(/The hub is closed\./);
    fail = false;
    await user.click(screen.getByRole("button", { name: "Try Again" }));
    await waitFor(() => expect(screen.queryByText(/The hub is closed/)).toBeNull());
    await screen.findByText("It has written nothing since Assent started.");
  });
});
