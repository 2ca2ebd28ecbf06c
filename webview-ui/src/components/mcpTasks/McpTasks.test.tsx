import type { Call, McpTask, McpTaskEntry } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead, inHead } from "../../testing/menu.ts";
import { ask, at, call, elicitation, mcpTask, message, task } from "../../testing/samples.ts";

function entry(
  messageId: number,
  part: Partial<McpTask> = {},
  rest: Partial<Call> = {},
  where: Partial<McpTaskEntry> = {},
): McpTaskEntry {
  const time = Date.now() - 90_500;
  const own = call({ task: mcpTask(part), ...rest });
  return { taskId: "t1", title: "First", messageId, time, call: own, ...where };
}

const ended: Partial<Call> = { endedAt: at, result: { type: "result" } };
// The clock stands, so that a slow machine does not count a second more.
beforeEach(() => {
  vi.useFakeTimers({ now: at, toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const list = () => screen.findByRole("region", { name: "MCP tasks" });

describe("the list of MCP tasks", () => {
  test("shows those of every conversation, what runs before what ended", async () => {
    const entries = [
      entry(4, { status: "input_required", statusMessage: "Which row?" }),
      entry(2, {}, { serverName: "mail" }, { taskId: "t2", title: "Second" }),
      entry(5, {}, {}, { taskId: "t9", title: "Theirs", workspace: "api" }),
      entry(3, { status: "completed" }, ended),
    ];
    const host = new FakeHost(task({ title: "Renamed" }), [], {
      "mcpTask/list": () => ({ mcpTasks: entries }),
    });
    const { user, container } = showApp(host);
    await chooseInHead(user, "MCP Tasks (3 running)");
    const region = await list();
    expect(document.activeElement).toBe(within(region).getByRole("heading", { level: 2 }));
    const names = () => within(region).getAllByRole("button", { name: /cleanup/ });
    await waitFor(() => expect(names()).toHaveLength(3));
    expect(names().map((item) => item.textContent)).toEqual([
      "cleanup of databasewaiting for input 1 min 30 s, in RenamedWhich row?",
      "cleanup of mailworking 1 min 30 s, in Second",
      "cleanup of databaseworking 1 min 30 s, in Theirs (api)",
    ]);
    await user.click(within(region).getByText("1 ended"));
    await waitFor(() => expect(names()).toHaveLength(4));
    expect(names()[3]?.textContent).toMatch(/^cleanup of databasedone, .*, in Renamed$/);
    expect(await axeFindings(container)).toEqual([]);
  });

  test("has pages, and reads as many again as it shows", async () => {
    const pages = [
      { mcpTasks: [entry(9), entry(8, {}, ended)], nextCursor: "two" },
      { mcpTasks: [entry(8, {}, ended), entry(7, {}, ended)], nextCursor: "three" },
      { mcpTasks: [entry(6, {}, ended)] },
    ] as const;
    const host = new FakeHost(task(), [], {
      "mcpTask/list": () => pages[0],
      "mcpTask/more": ({ cursor }) => (cursor === "two" ? pages[1] : pages[2]),
    });
    const { user, container } = showApp(host);
    await chooseInHead(user, "MCP Tasks (1 running)");
    const region = await list();
    const names = () => within(region).getAllByRole("button", { name: /cleanup/ });
    const more = () => within(region).queryByRole("button", { name: "Show Older MCP Tasks" });
    await user.click(await within(region).findByText("1 ended, and older ones"));
    await waitFor(() => expect(names()).toHaveLength(2));
    expect(await axeFindings(container)).toEqual([]);
    for (const count of [3, 4]) {
      await user.click(more() as HTMLElement);
      await waitFor(() => expect(names()).toHaveLength(count));
    }
    await waitFor(() => expect(more()).toBeNull());
    // A task that is not in the list has the whole list read again.
    const asked = host.calls("mcpTask/more").length;
    const changed = mcpTask({ status: "input_required" });
    await host.event({ type: "callTaskChanged", messageId: 5, task: changed });
    await waitFor(() => expect(host.calls("mcpTask/more")).toHaveLength(asked + 2));
    await waitFor(() => expect(names()).toHaveLength(4));
  });

  test("shows expired ones as expired, at once", async () => {
    const host = new FakeHost(task(), [], {
      "mcpTask/list": () => ({
        mcpTasks: [entry(1, { expiresAt: at }), entry(2, { expiresAt: at + 1 })],
      }),
    });
    const { user } = showApp(host);
    await chooseInHead(user, /^MCP Tasks/);
    const region = await list();
    await waitFor(() =>
      expect(
        within(region)
          .getAllByRole("button", { name: /cleanup/ })
          .map((item) => item.textContent),
      ).toEqual([
        "cleanup of databaseexpired, last working 1 min 30 s, in First",
        "cleanup of databaseworking 1 min 30 s, in First",
      ]),
    );
  });

  test("is read again when it is opened, and says when it is empty", async () => {
    let entries: readonly McpTaskEntry[] = [];
    const host = new FakeHost(task(), [], {
      "mcpTask/list": () => ({ mcpTasks: [...entries] }),
    });
    const { user } = showApp(host);
    await chooseInHead(user, "MCP Tasks");
    await within(await list()).findByText("No MCP task is running.");
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("region", { name: "MCP tasks" })).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "More Actions" }));
    // Another window began one, which is not told of here.
    entries = [entry(1)];
    await chooseInHead(user, "MCP Tasks");
    await within(await list()).findByRole("button", { name: /cleanup/ });
  });

  test("that cannot be read says why, and can be read again", async () => {
    let fail = true;
    const host = new FakeHost(task(), [], {
      "mcpTask/list": () => {
        if (fail) throw new ResponseError(-32603, "The disk is gone.");
        return { mcpTasks: [entry(1)] };
      },
    });
    const { user } = showApp(host);
    await chooseInHead(user, /^MCP Tasks/);
    await screen.findByText("The list could not be read: The disk is gone.");
    fail = false;
    await user.click(screen.getByRole("button", { name: "Try Again" }));
    await within(await list()).findByRole("button", { name: /cleanup/ });
    expect(screen.queryByText(/could not be read/)).toBeNull();
  });

  test("is opened by the host's command, and once more gives it the focus", async () => {
    const host = new FakeHost(task());
    const { user } = showApp(host);
    await screen.findByRole("button", { name: "More Actions" });
    await host.tell("host/reveal", { kind: "mcpTasks" });
    const first = await list();
    await user.click(screen.getByRole("button", { name: "New Task" }));
    await host.tell("host/reveal", { kind: "mcpTasks" });
    await waitFor(async () =>
      expect(document.activeElement).toBe(within(await list()).getByRole("heading", { level: 2 })),
    );
    expect(first.isConnected).toBe(false);
  });

  test("leads to the conversation and the row, on an older page too", async () => {
    const second = task({ id: "t2", title: "Second" });
    const pages = [
      { messages: [message(5, call())], earlier: true },
      { messages: [message(3, call()), message(4, call())], earlier: true },
      { messages: [message(1, call({ task: mcpTask() })), message(2, call())], earlier: false },
    ];
    const host = new FakeHost(task(), [], {
      "task/list": () => ({ tasks: [second, task()] }),
      "task/open": ({ taskId, before = 0 }) => {
        if (taskId === "t1") return { task: task(), reset: true };
        const page = pages[before === 0 ? 0 : before === 5 ? 1 : 2] ?? {};
        return { task: second, reset: before === 0, ...page };
      },
      "mcpTask/list": () => ({ mcpTasks: [entry(1, {}, {}, { taskId: "t2" })] }),
    });
    const { user, session } = showApp(host);
    session.actions.openTask("t1");
    await chooseInHead(user, /^MCP Tasks/);
    await user.click(await within(await list()).findByRole("button", { name: /cleanup/ }));
    const rows = await screen.findByRole("list", { name: "Messages" });
    await waitFor(() => expect(document.activeElement?.id).toBe("message-1"));
    expect(rows.contains(document.activeElement)).toBe(true);
    expect(screen.queryByRole("region", { name: "MCP tasks" })).toBeNull();
    expect(session.getState().reveal).toBeUndefined();
  });

  test("leads to the row, and not to a question that is drawn with it", async () => {
    const messages = [
      message(1, call({ task: mcpTask({ status: "input_required" }) })),
      message(2, ask("a2", elicitation())),
    ];
    const host = new FakeHost(task(), [], {
      "task/list": () => ({ tasks: [task({ id: "t2", title: "Second" }), task()] }),
      "task/open": ({ taskId }) =>
        taskId === "t1"
          ? { task: task(), reset: true }
          : { task: task({ id: "t2", title: "Second" }), messages, reset: true },
      "mcpTask/list": () => ({ mcpTasks: [entry(1, {}, {}, { taskId: "t2" })] }),
    });
    const { user, session } = showApp(host);
    session.actions.openTask("t1");
    await chooseInHead(user, /^MCP Tasks/);
    await user.click(await within(await list()).findByRole("button", { name: /cleanup/ }));
    await screen.findByRole("region", { name: "database asks" });
    await waitFor(() => expect(session.getState().reveal).toBeUndefined());
    expect(document.activeElement?.id).toBe("message-1");
  });

  test("does not search forever for a message that is gone", async () => {
    const host = new FakeHost(task(), [message(5, call())], {
      "task/open": ({ before = 0 }) => {
        if (before > 0) throw new ResponseError(-32603, "The page is damaged.");
        return { task: task(), messages: [message(5, call())], reset: true, earlier: true };
      },
      "mcpTask/list": () => ({ mcpTasks: [entry(1)] }),
    });
    const { user, session } = showApp(host);
    await screen.findByText("The page is damaged.");
    await chooseInHead(user, /^MCP Tasks/);
    await user.click(await within(await list()).findByRole("button", { name: /cleanup/ }));
    // Once by the list, which is at the first message that is here, and once by what leads to it.
    const readings = () => host.calls("task/open").filter((params) => hasBefore(params));
    await waitFor(() => expect(readings()).toHaveLength(2));
    await waitFor(() => expect(session.getState().reveal).toBeUndefined());
    await host.caughtUp();
    expect(readings()).toHaveLength(2);
  });
});

function hasBefore(params: unknown): boolean {
  return typeof params === "object" && params !== null && "before" in params;
}

describe("the state of an MCP task", () => {
  const changed = (messageId: number, part: Partial<McpTask>) =>
    ({ type: "callTaskChanged", messageId, task: mcpTask(part) }) as const;

  test("is applied to a listed task, without reading the list again", async () => {
    const host = new FakeHost(task(), [message(1, call({ task: mcpTask() }))], {
      "mcpTask/list": () => ({ mcpTasks: [entry(1)] }),
    });
    const { user } = showApp(host);
    await chooseInHead(user, "MCP Tasks (1 running)");
    const region = await list();
    await within(region).findByText(/^working/);
    await waitFor(() => expect(host.calls("mcpTask/list")).toHaveLength(2));
    await host.event(changed(1, { statusMessage: "Step 2" }));
    await within(region).findByText("Step 2");
    await host.event({
      type: "callEnded",
      messageId: 1,
      endedAt: at,
      result: { type: "cancelled" },
    });
    await within(region).findByText("No MCP task is running.");
    await inHead(user, "MCP Tasks");
    await host.caughtUp();
    expect(host.calls("mcpTask/list")).toHaveLength(2);
  });

  test("makes the list be read again if the task is not listed", async () => {
    let entries: readonly McpTaskEntry[] = [];
    const host = new FakeHost(task(), [message(1, call()), message(2, call())], {
      "mcpTask/list": () => ({ mcpTasks: [...entries] }),
    });
    const { user } = showApp(host);
    await screen.findAllByText(/^running/);
    await waitFor(() => expect(host.calls("mcpTask/list")).toHaveLength(1));
    // What ends without having been an MCP task is none of the list's business.
    await host.event({
      type: "callEnded",
      messageId: 2,
      endedAt: at,
      result: { type: "cancelled" },
    });
    await screen.findByText("Cancelled before it ended.");
    await host.caughtUp();
    expect(host.calls("mcpTask/list")).toHaveLength(1);
    entries = [entry(1)];
    await host.event(changed(1, {}));
    await inHead(user, "MCP Tasks (1 running)");
    expect(host.calls("mcpTask/list")).toHaveLength(2);
  });

  test("while the list is read makes it be read once more", async () => {
    let entries = [entry(1)];
    const release: (() => void)[] = [];
    const host = new FakeHost(task(), [message(1, call())], {
      "mcpTask/list": async () => {
        const result = { mcpTasks: entries };
        await new Promise<void>((resolve) => release.push(resolve));
        return result;
      },
    });
    const { user } = showApp(host);
    await waitFor(() => expect(release).toHaveLength(1));
    // The list is slow, and the conversation does not wait for it.
    await screen.findByText(/^running/);
    entries = [entry(1, {}, ended)];
    await host.event({ type: "callEnded", messageId: 1, endedAt: at, result: { type: "result" } });
    await screen.findByText("It returned nothing.");
    release[0]?.();
    await waitFor(() => expect(release).toHaveLength(2));
    release[1]?.();
    await inHead(user, "MCP Tasks");
  });
});
