import type { ListServerMcpTasksResult, ServerMcpTask } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead, inHead } from "../../testing/menu.ts";
import { at, call, mcpTask, message, task } from "../../testing/samples.ts";

const found: ServerMcpTask = {
  serverName: "database",
  mcpTaskId: "786512e2",
  status: "working",
  statusMessage: "Half of <b>it</b>.",
  createdAt: Date.UTC(2020, 0, 1, 12),
};

type Handlers = ConstructorParameters<typeof FakeHost>[2];

function hostWith(
  listed: ListServerMcpTasksResult,
  handlers: Handlers = {},
  of = task(),
): FakeHost {
  return new FakeHost(of, [], { "mcpTask/listOfServers": () => listed, ...handlers });
}

async function open(host: FakeHost) {
  const app = showApp(host);
  await chooseInHead(app.user, /^MCP Tasks/);
  return app;
}

const part = () => screen.findByRole("region", { name: "Only on the servers" });
const followButton = () => screen.findByRole("button", { name: /^Follow in This Task/ });

describe("the MCP tasks that only their servers know", () => {
  test("are requested when the list is opened, with their state", async () => {
    const host = hostWith({
      mcpTasks: [found, { serverName: "mail", mcpTaskId: "two", status: "completed" }],
      problems: [{ serverName: "mail", message: "Its list of tasks has no end." }],
    });
    const app = showApp(host);
    const entry = await inHead(app.user, "MCP Tasks");
    await host.caughtUp();
    expect(host.calls("mcpTask/listOfServers")).toEqual([]);
    await app.user.click(entry);
    const region = await part();
    const [first, second] = within(region).getAllByRole("listitem");
    expect(first?.textContent).toMatch(
      /^786512e2 of database, unknown toolworking, started Jan 1, 2020.*Half of <b>it<\/b>\.Follow in This Task$/,
    );
    expect(second?.textContent).toBe("two of mail, unknown toolcompletedFollow in This Task");
    within(region).getByText("mail: Its list of tasks has no end.");
    expect(await axeFindings(app.container)).toEqual([]);
  });

  test("are not shown if there are none", async () => {
    const host = hostWith({});
    await open(host);
    await waitFor(() => expect(host.calls("mcpTask/listOfServers")).toHaveLength(1));
    await host.caughtUp();
    expect(screen.queryByText("Only on the servers")).toBeNull();
  });

  test("say why they could not be asked for, and are asked for again", async () => {
    let fail = true;
    const host = hostWith(
      {},
      {
        "mcpTask/listOfServers": () => {
          if (fail) throw new ResponseError(-32603, "The disk is gone.");
          return { mcpTasks: [found] };
        },
      },
    );
    const { user } = await open(host);
    await screen.findByText("Some servers did not respond: The disk is gone.");
    fail = false;
    await user.keyboard("{Escape}");
    await chooseInHead(user, "MCP Tasks");
    await followButton();
    expect(screen.queryByText(/did not respond/)).toBeNull();
  });

  test("are followed in the open task, once, and the focus moves to the row", async () => {
    const request = { type: "tasks/result", mcpTaskId: "786512e2" } as const;
    const release: (() => void)[] = [];
    const host = hostWith(
      { mcpTasks: [found] },
      {
        "call/start": async () => {
          await new Promise<void>((resolve) => release.push(resolve));
          return { messageId: 1 };
        },
      },
    );
    const { user } = await open(host);
    await user.dblClick(await followButton());
    await waitFor(() => expect(release).toHaveLength(1));
    expect(host.calls("call/start")).toEqual([{ taskId: "t1", serverName: "database", request }]);
    const body = call({ request, task: mcpTask() });
    await host.event({ type: "messageAdded", message: message(1, body) });
    release[0]?.();
    await screen.findByRole("heading", { name: "Found MCP task of database" });
    screen.getByText("It comes from the server's list of MCP tasks, which does not name the tool.");
    await waitFor(() => expect(document.activeElement?.id).toBe("message-1"));
    expect(screen.queryByRole("region", { name: "MCP tasks" })).toBeNull();
    await host.caughtUp();
    expect(host.calls("call/start")).toHaveLength(1);
  });

  test("are followed in a new task where the open one is closed", async () => {
    const host = hostWith(
      { mcpTasks: [found] },
      {
        "task/create": () => task({ id: "t2", title: "" }),
        "call/start": () => ({ messageId: 1 }),
      },
      task({ closed: true }),
    );
    const { user } = await open(host);
    await user.click(await screen.findByRole("button", { name: /^Follow in a New Task/ }));
    await waitFor(() => expect(host.calls("call/start")).toMatchObject([{ taskId: "t2" }]));
  });

  test("stay if following one is refused, and say why", async () => {
    const host = hostWith(
      { mcpTasks: [found] },
      {
        "call/start": () => {
          throw new ResponseError(-32602, "It belongs to a call already.");
        },
      },
    );
    const { user } = await open(host);
    const button = await followButton();
    await user.click(button);
    await screen.findByText("It belongs to a call already.");
    expect((await followButton()).getAttribute("aria-disabled")).toBe("false");
  });

  test("are not shown twice, and are found again where their call was lost", async () => {
    const entry = (mcpTaskId: string, rest: Parameters<typeof call>[0] = {}) => ({
      taskId: "t1",
      title: "First",
      messageId: Number(mcpTaskId),
      time: at,
      call: call({ task: mcpTask({ taskId: mcpTaskId }), ...rest }),
    });
    const listed = ["1", "2", "3", "4"].map((mcpTaskId) => ({ ...found, mcpTaskId }));
    const host = hostWith(
      { mcpTasks: listed },
      {
        "mcpTask/list": () => ({
          mcpTasks: [
            entry("1"),
            entry("2", { endedAt: at, result: { type: "lost", reason: "It is gone." } }),
            entry("3", { endedAt: at, result: { type: "cancelled" } }),
            entry("4", { serverName: "mail" }),
          ],
        }),
      },
    );
    await open(host);
    const names = () =>
      within(region)
        .getAllByRole("listitem")
        .map((item) => item.textContent?.[0]);
    const region = await part();
    await waitFor(() => expect(names()).toEqual(["2", "4"]));
  });
});
