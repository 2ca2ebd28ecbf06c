import { ErrorCode, type Message, type Tool } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { isWrong } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead } from "../../testing/menu.ts";
import { at, call, callTool, message, server, task, tool } from "../../testing/samples.ts";

// The whole panel over a real connection: tasks, the tool runner, and failures.

// Each drawing of a notice is counted, to see what an event costs.
const drawn = vi.hoisted(() => [] as string[]);
vi.mock("../conversation/NoticeRow.tsx", () => ({
  NoticeRow: ({ notice }: { notice: { text: string } }) => {
    drawn.push(notice.text);
    return notice.text;
  },
}));

const notice = (id: number, text: string): Message =>
  message(id, { type: "notice", level: "info", text });

test("what keeps the whole panel from being drawn is said, and another task draws it again", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {}); // where React tells of it
  const other = task({ id: "t2", title: "Second" });
  const host = new FakeHost(task(), [], {
    "task/create": () => other,
    "task/open": ({ taskId }) =>
      taskId === "t1"
        ? { task: task(), messages: [message(1, null as unknown as Message["body"])], reset: true }
        : { task: other, messages: [notice(1, "of t2")], reset: true },
  });
  const { user, container } = showApp(host);
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toMatch(/^The panel cannot be drawn: /);
  expect(await axeFindings(container)).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Try Again" }));
  screen.getByText(/^The panel cannot be drawn: /);
  await user.click(screen.getByRole("button", { name: "New Task" }));
  await screen.findByText("of t2");
  expect(screen.queryByText(/^The panel cannot be drawn: /)).toBeNull();
});

describe("the open task", () => {
  test("shows its messages, and draws an event's alone", async () => {
    const host = new FakeHost(task(), [notice(1, "one"), notice(2, "two")]);
    showApp(host);
    await screen.findByText("two");
    drawn.length = 0;
    await host.event({ type: "messageAdded", message: notice(3, "three") });
    await screen.findByText("three");
    expect(drawn).toEqual(["three"]);
  });

  test("is read again from the last number where an event is missing", async () => {
    const host = new FakeHost(task(), [notice(1, "one")]);
    showApp(host);
    await screen.findByText("one");
    host.task = task({ lastNumber: 2 });
    host.messages = [notice(2, "missed"), notice(3, "three")];
    await host.event({ type: "messageAdded", message: notice(3, "three") });
    await screen.findByText("missed");
    screen.getByText("one");
    screen.getByText("three");
    expect(host.calls("task/open")).toEqual([
      { taskId: "t1", after: 0 },
      { taskId: "t1", after: 1 },
    ]);
  });

  test("is the one that was open before, and is chosen with the arrow keys", async () => {
    const tasks = [task({ id: "t3", title: "Third" }), task({ id: "t2", title: "Second" }), task()];
    const host = new FakeHost(task(), [], {
      "task/list": () => ({ tasks }),
      "task/open": ({ taskId }) => ({
        task: tasks.find(({ id }) => id === taskId) ?? task(),
        messages: [notice(1, `of ${taskId}`)],
      }),
    });
    const storage = new MemoryStorage();
    storage.saved = { openTaskId: "t2" };
    const { user, container } = showApp(host, storage);
    await screen.findByText("of t2");
    await user.click(screen.getByRole("button", { name: "Second" }));
    screen.getByRole("listbox", { name: "Tasks" });
    const field = screen.getByRole("combobox", { name: "Find tasks by title or message" });
    expect(document.activeElement).toBe(field);
    expect(await axeFindings(container)).toEqual([]);
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Second" }));
    await user.keyboard("{Enter}{ArrowDown}{Enter}");
    await screen.findByText("of t1");
    await user.keyboard("{Enter}{Home}{Enter}");
    await screen.findByText("of t3");
    expect(storage.saved).toMatchObject({ openTaskId: "t3" });
  });

  test("searches the whole conversation, including unloaded messages, from the newest on", async () => {
    const host = new FakeHost(task(), [], {
      "task/open": ({ before }) =>
        before === undefined
          ? {
              task: task(),
              messages: [notice(8, "eight"), notice(9, "nine")],
              reset: true,
              earlier: true,
            }
          : { task: task(), messages: [notice(1, "one")] },
      "task/search": () => ({ hits: [hit(9), hit(8), hit(1)] }),
    });
    const hit = (messageId: number) => {
      const where = { taskId: "t1", title: "First", messageId, time: at };
      return { ...where, before: "", match: "in", after: "" };
    };
    const { user, container } = showApp(host);
    await screen.findByText("nine");
    await user.keyboard("{Control>}f{/Control}");
    const field = await screen.findByRole("textbox", { name: "Find in this task" });
    expect(document.activeElement).toBe(field);
    await user.keyboard("in");
    await screen.findByText("1 of 3");
    const found = () => container.querySelector(".rows > .found")?.textContent;
    await waitFor(() => expect(found()).toBe("nine"));
    expect(host.calls("task/search").at(-1)).toEqual({ text: "in", taskId: "t1", limit: 1000 });
    expect(await axeFindings(container)).toEqual([]);
    await user.keyboard("{Enter}");
    await screen.findByText("2 of 3");
    await user.click(screen.getByRole("button", { name: "Older Match (Enter)" }));
    await waitFor(() => expect(found()).toBe("one"));
    await user.click(screen.getByRole("button", { name: "Newer Match (Shift+Enter)" }));
    await waitFor(() => expect(found()).toBe("eight"));
    const message = screen.getByRole("textbox", { name: "Message" });
    await user.click(message);
    await host.event({ type: "messageAdded", message: notice(10, "ten") });
    await screen.findByText("ten");
    expect(document.activeElement).toBe(message);
    await user.click(field);
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("textbox", { name: "Find in this task" })).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole("region", { name: "Conversation" }));
    await chooseInHead(user, "Find in Task");
    expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Find in this task" }));
  });

  test("reports a failed search", async () => {
    const host = new FakeHost(task(), [notice(1, "one")], {
      "task/search": ({ text }) => {
        if (text === "nothing") return { truncated: true };
        const where = { taskId: "t1", title: "First", messageId: 1, time: at };
        if (text === "one") return { hits: [{ ...where, before: "", match: "one", after: "" }] };
        throw new ResponseError(ErrorCode.InternalError, "the store is damaged");
      },
    });
    const { user, container } = showApp(host);
    await screen.findByText("one");
    await user.keyboard("{Control>}f{/Control}");
    await user.keyboard("one");
    await screen.findByText("1 of 1");
    await waitFor(() => expect(container.querySelector(".rows > .found")).not.toBeNull());
    await user.clear(screen.getByRole("textbox", { name: "Find in this task" }));
    await user.keyboard("nothing");
    await screen.findByText("None in the newest messages");
    await waitFor(() => expect(container.querySelector(".rows > .found")).toBeNull());
    await user.keyboard("?");
    await screen.findByText("the store is damaged");
  });

  test("is renamed in place", async () => {
    const host = new FakeHost(task(), [], {
      "task/rename": ({ title }) => task({ title, lastNumber: 2 }),
    });
    const { user } = showApp(host);
    await chooseInHead(user, "Rename Task");
    const title = screen.getByRole("textbox", { name: "New title of First" });
    expect(document.activeElement).toBe(title);
    await user.clear(title);
    await user.type(title, "Better{Enter}");
    await waitFor(() =>
      expect(host.calls("task/rename")).toEqual([{ taskId: "t1", title: "Better" }]),
    );
    const more = await screen.findByRole("button", { name: "More Actions" });
    await waitFor(() => expect(document.activeElement).toBe(more));
  });

  test("is closed only after a second thought", async () => {
    const host = new FakeHost(task(), [], {
      "task/close": () => task({ closed: true, lastNumber: 2 }),
    });
    const { user } = showApp(host);
    await chooseInHead(user, "Close Task");
    const question = screen.getByRole("group", { name: "Close this task?" });
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("group", { name: "Close this task?" })).toBeNull();
    await host.caughtUp();
    expect(host.calls("task/close")).toEqual([]);
    await chooseInHead(user, "Close Task");
    expect(question.isConnected).toBe(false);
    const again = screen.getByRole("group", { name: "Close this task?" });
    await user.click(within(again).getByRole("button", { name: "Close Task" }));
    await waitFor(() => expect(host.calls("task/close")).toEqual([{ taskId: "t1" }]));
  });

  test("is deleted, which is taken back by a button and by a command", async () => {
    const deleted = task({ deletedAt: at, lastNumber: 2 });
    const host = new FakeHost(task(), [], {
      "task/delete": () => deleted,
      "task/restore": () => task({ lastNumber: 3 }),
    });
    const { user, container } = showApp(host);
    await chooseInHead(user, "Delete Task");
    const undo = await screen.findByRole("button", { name: "Undo" });
    screen.getByText("Deleted “First”. Its journal records remain.");
    expect(await axeFindings(container)).toEqual([]);
    expect(host.calls("task/delete")).toEqual([{ taskId: "t1", close: false }]);
    expect(screen.queryByRole("button", { name: "First" })).toBeNull();
    expect(document.activeElement).toBe(undo);
    await user.keyboard("{Enter}");
    await screen.findByRole("button", { name: "First" });
    expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
    // Another window deleted it, so this one has no button to restore it.
    await host.tell("task/event", {
      taskId: "t1",
      number: 4,
      openAsks: 0,
      event: { type: "taskChanged", task: { ...deleted, lastNumber: 4 } },
    });
    await waitFor(() => expect(screen.queryByRole("button", { name: "First" })).toBeNull());
    expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
    await chooseInHead(user, "Undo Delete Task");
    await waitFor(() => expect(host.calls("task/restore")).toHaveLength(2));
  });

  test("is closed before it is deleted where something goes on in it", async () => {
    const busy = task({ openAsks: 1, running: true });
    const host = new FakeHost(busy, [message(1, call())], {
      "task/delete": () => task({ deletedAt: at, lastNumber: 5 }),
    });
    const { user, container } = showApp(host);
    await chooseInHead(user, "Delete Task");
    const question = screen.getByRole("group", { name: "Close and delete this task?" });
    expect(question.textContent).toContain(
      "This also ends: 1 open question, 1 running call, and what the model is doing. Its journal records remain.",
    );
    expect(await axeFindings(container)).toEqual([]);
    await user.keyboard("{Escape}");
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "More Actions" }));
    await host.caughtUp();
    expect(host.calls("task/delete")).toEqual([]);
    await chooseInHead(user, "Delete Task");
    await user.click(screen.getByRole("button", { name: "Close and Delete" }));
    await waitFor(() => expect(host.calls("task/delete")).toEqual([{ taskId: "t1", close: true }]));
  });

  test("has older messages, which are read when they come near", async () => {
    const host = new FakeHost(task(), [], {
      "task/open": ({ before }) =>
        before === undefined
          ? { task: task(), messages: [notice(5, "five")], reset: true, earlier: true }
          : { task: task(), messages: [notice(4, `before ${before}`)] },
    });
    showApp(host);
    await screen.findByText("before 5");
    expect(screen.queryByRole("button", { name: /earlier/ })).toBeNull();
  });

  test("offers to load older messages again after a failure", async () => {
    let broken = true;
    const host = new FakeHost(task(), [], {
      "task/open": ({ before }) => {
        if (before === undefined) {
          return { task: task(), messages: [notice(5, "five")], reset: true, earlier: true };
        }
        if (broken) throw new ResponseError(ErrorCode.InternalError, "The page is damaged.");
        return { task: task(), messages: [notice(4, "four")] };
      },
    });
    const { user } = showApp(host);
    await screen.findByText("The page is damaged.");
    broken = false;
    await user.click(screen.getByRole("button", { name: "Show earlier messages" }));
    await screen.findByText("four");
    expect(host.calls("task/open")).toHaveLength(3);
  });

  test("that cannot be read says so, and can be tried again", async () => {
    let broken = true;
    const host = new FakeHost(task(), [], {
      "task/open": () => {
        if (broken) throw new ResponseError(ErrorCode.InternalError, "The store is damaged.");
        return { task: task(), messages: [notice(1, "one")] };
      },
    });
    const { user } = showApp(host);
    await screen.findByText("The task could not be read: The store is damaged.");
    broken = false;
    await user.click(screen.getByRole("button", { name: "Try Again" }));
    await screen.findByText("one");
  });

  test("has no landmark twice, however often a tool is called", async () => {
    const host = new FakeHost(task(), [message(1, call()), message(2, call())]);
    const { container } = showApp(host);
    await waitFor(() => expect(screen.getAllByRole("article")).toHaveLength(2));
    expect(await axeFindings(container)).toEqual([]);
  });

  test("a call of it is cancelled", async () => {
    const host = new FakeHost(task(), [message(1, call())], {
      "call/cancel": () => ({ cancelled: true }),
    });
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Cancel" }));
    await waitFor(() =>
      expect(host.calls("call/cancel")).toEqual([{ taskId: "t1", messageId: 1 }]),
    );
  });
});

describe("the runner", () => {
  const withTools = (handlers: ConstructorParameters<typeof FakeHost>[2] = {}) => {
    const host = new FakeHost(task(), [], {
      "tools/list": () => ({ tools: [tool] }),
      "call/start": () => ({ messageId: 1 }),
      ...handlers,
    });
    host.servers = [server()];
    return host;
  };
  const choose = async (user: ReturnType<typeof showApp>["user"]) => {
    await user.selectOptions(await screen.findByRole("combobox", { name: "Server" }), "database");
    await user.selectOptions(await screen.findByRole("combobox", { name: "Tool" }), "cleanup");
  };

  test("runs a tool with its arguments, steps aside, and keeps the choice", async () => {
    const host = withTools();
    const { user, container, storage, unmount } = showApp(host);
    await choose(user);
    screen.getByText("Removes what is old.");
    expect(await axeFindings(container)).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Run" }));
    const missing = screen.getByRole("textbox", { name: "Older than" });
    await waitFor(() => expect(isWrong(missing)).toBe(true));
    expect(host.calls("call/start")).toEqual([]);
    await user.type(missing, "2024{Enter}");
    await waitFor(() =>
      expect(host.calls("call/start")).toEqual([
        { taskId: "t1", serverName: "database", request: callTool({ older: "2024" }) },
      ]),
    );
    const toggle = await screen.findByRole("button", { name: "Use a Server database" });
    expect(toggle.getAttribute("aria-expanded")).toBe("false");
    unmount();

    const { user: later } = showApp(withTools(), storage);
    await later.click(await screen.findByRole("button", { name: /^Use a Server/ }));
    const older = await screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Older than" });
    expect(older.value).toBe("2024");
  });

  test("creates a task if there is none", async () => {
    const host = withTools({
      "task/list": () => ({}),
      "task/create": () => task(),
    });
    const { user } = showApp(host);
    await screen.findByRole("heading", { name: "Your servers can ask; you stay in control" });
    await choose(user);
    await user.type(screen.getByRole("textbox", { name: "Older than" }), "2024{Enter}");
    await waitFor(() =>
      expect(host.calls("call/start")).toEqual([
        { taskId: "t1", serverName: "database", request: callTool({ older: "2024" }) },
      ]),
    );
    expect(host.calls("task/create")).toEqual([{}]);
  });

  test("says why a tool could not be run, and keeps its arguments", async () => {
    const host = withTools({
      "call/start": () => {
        throw new ResponseError(ErrorCode.ServerFailed, "The server is gone. Restart it.");
      },
    });
    const { user } = showApp(host);
    await choose(user);
    const older = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Older than" });
    await user.type(older, "2024{Enter}");
    await screen.findByText("The server is gone. Restart it.");
    expect(older.value).toBe("2024");
  });

  test("runs nothing in a closed task", async () => {
    const closed = task({ closed: true });
    const host = withTools({ "task/open": () => ({ task: closed }) });
    const storage = new MemoryStorage();
    storage.saved = { openTaskId: "t1", runner: { open: true } };
    const { user } = showApp(host, storage);
    await choose(user);
    screen.getByText("This task is closed. To use a server, create a new task.");
    expect(screen.getByRole("button", { name: "Run" }).matches(":disabled")).toBe(true);
  });

  test("has a filter where the tools are many", async () => {
    const many = Array.from({ length: 12 }, (_, n) => ({
      name: `tool_${n}`,
      title: `Number ${n}`,
    }));
    const { user } = showApp(withTools({ "tools/list": () => ({ tools: many }) }));
    await user.selectOptions(await screen.findByRole("combobox", { name: "Server" }), "database");
    const tools = await screen.findByRole("combobox", { name: "Tool" });
    expect(within(tools).getAllByRole("option")).toHaveLength(13);
    await user.type(screen.getByRole("searchbox", { name: "Filter the tools" }), "number 11");
    const names = within(tools)
      .getAllByRole("option")
      .map(({ textContent }) => textContent);
    expect(names).toEqual(["Choose a tool…", "Number 11 (tool_11)"]);
  });

  test("shows why a server failed, and restarts it", async () => {
    const failed = server({
      state: "failed",
      reason: "npx was not found on /usr/bin.",
      stderr: ["sh: 1: npx: not found"],
    });
    const host = withTools({
      "tools/list": () => {
        throw new ResponseError(ErrorCode.ServerFailed, "npx was not found on /usr/bin.");
      },
      "server/restart": () => server(),
    });
    host.servers = [failed];
    const { user, container } = showApp(host);
    await user.selectOptions(await screen.findByRole("combobox", { name: "Server" }), "database");
    screen.getByRole("option", { name: "database (failed)" });
    screen.getByText("npx was not found on /usr/bin.");
    screen.getByText("sh: 1: npx: not found");
    expect(await axeFindings(container)).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Restart Server" }));
    await waitFor(() => expect(host.calls("server/restart")).toEqual([{ serverName: "database" }]));
    await host.tell("server/changed", server());
    await screen.findByRole("option", { name: "database (running)" });
  });

  test("stops a server, and its tools can still be chosen", async () => {
    const host = withTools({ "server/stop": () => server({ state: "stopped" }) });
    const { user } = showApp(host);
    await choose(user);
    await user.click(screen.getByRole("button", { name: "Stop Server" }));
    await waitFor(() => expect(host.calls("server/stop")).toEqual([{ serverName: "database" }]));
    await host.tell("server/changed", server({ state: "stopped" }));
    await screen.findByRole("option", { name: "database (stopped)" });
    expect(screen.queryByRole("button", { name: "Stop Server" })).toBeNull();
    screen.getByRole("textbox", { name: "Older than" });
  });

  test("offers to start a server again that was stopped while it started", async () => {
    const host = withTools({
      "tools/list": () => {
        throw new ResponseError(ErrorCode.ServerFailed, "The server was stopped.");
      },
    });
    host.servers = [server({ state: "stopped" })];
    const { user } = showApp(host);
    await user.selectOptions(await screen.findByRole("combobox", { name: "Server" }), "database");
    await screen.findByText("The server was stopped.");
    await user.click(screen.getByRole("button", { name: "Start Server" }));
    await waitFor(() => expect(host.calls("tools/list")).toHaveLength(2));
  });

  test("rereads changed tools, and keeps the typed arguments", async () => {
    const replies: ((tools: readonly Tool[]) => void)[] = [];
    const host = withTools({
      "tools/list": () =>
        replies.length === 0 && host.calls("tools/list").length === 1
          ? { tools: [tool] }
          : new Promise((resolve) => replies.push((tools) => resolve({ tools }))),
    });
    const { user } = showApp(host);
    await choose(user);
    const older = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Older than" });
    await user.type(older, "20");
    // However often it is said, one reading is under way, and one more follows.
    for (let times = 0; times < 5; times++) {
      await host.tell("server/itemsChanged", { serverName: "database", list: "tools" });
    }
    await host.tell("server/itemsChanged", { serverName: "database", list: "prompts" });
    await waitFor(() => expect(replies).toHaveLength(1));
    await user.type(older, "24");
    replies[0]?.([tool]);
    await waitFor(() => expect(replies).toHaveLength(2));
    replies[1]?.([tool, { name: "vacuum" }]);
    await screen.findByRole("option", { name: "vacuum" });
    expect(document.activeElement).toBe(older);
    expect(older.value).toBe("2024");
    await host.caughtUp();
    expect(host.calls("tools/list")).toHaveLength(3);
  });

  test("does not start a server by coming back to it", async () => {
    const storage = new MemoryStorage();
    storage.saved = { runner: { open: true, serverName: "database", toolName: "cleanup" } };
    const host = withTools();
    host.servers = [server({ state: "stopped" })];
    const { user } = showApp(host, storage);
    const start = await screen.findByRole("button", { name: "Start Server" });
    await host.caughtUp();
    expect(host.calls("tools/list")).toEqual([]);
    await user.click(start);
    await screen.findByRole("textbox", { name: "Older than" });
  });

  test("no longer waits for a server when another one is chosen", async () => {
    const host = withTools({
      "tools/list": ({ serverName }) =>
        serverName === "slow" ? new Promise(() => {}) : { tools: [tool] },
    });
    host.servers = [server({ name: "slow", state: "stopped" }), server()];
    const { user } = showApp(host);
    const servers = await screen.findByRole("combobox", { name: "Server" });
    await user.selectOptions(servers, "slow");
    await screen.findByText("Reading what the server offers…");
    await user.selectOptions(servers, "database");
    await screen.findByRole("combobox", { name: "Tool" });
  });

  test("comes into view with the server that the host names", async () => {
    const storage = new MemoryStorage();
    storage.saved = { runner: { open: false } };
    const host = withTools();
    showApp(host, storage);
    await screen.findByRole("button", { name: /^Use a Server/ });
    await host.tell("host/reveal", { kind: "toolRunner", serverName: "database" });
    const servers = await screen.findByRole<HTMLSelectElement>("combobox", { name: "Server" });
    expect(servers.value).toBe("database");
    await waitFor(() => expect(document.activeElement).toBe(servers));
  });
});

describe("errors", () => {
  test("no server: the way to configure one", async () => {
    const host = new FakeHost(task(), [], { "task/list": () => ({}) });
    const { user, container } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Open MCP Configuration" }));
    await waitFor(() => expect(host.calls("host/openConfiguration")).toEqual([{}]));
    expect(screen.queryByRole("button", { name: /^Import/ })).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("no server: the way to import some, where the host can", async () => {
    const host = new FakeHost(task(), [], {
      "task/list": () => ({}),
      "host/ready": () => ({ status: { state: "running" }, imports: true }),
      "host/importServers": () => null,
    });
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Import from Other Programs…" }));
    await waitFor(() => expect(host.calls("host/importServers")).toHaveLength(1));
  });

  test("faults of the configuration lead to their place", async () => {
    const problems = [
      { source: "/w/.vscode/mcp.json", line: 12, column: 5, message: "comand is unknown." },
      { source: "settings", message: "The input key is not defined." },
    ];
    const host = new FakeHost(task(), [], { "server/list": () => ({ problems }) });
    const { user, container } = showApp(host);
    await screen.findByText("2 problems in the MCP configuration");
    await user.click(screen.getByRole("button", { name: "mcp.json:12" }));
    await user.click(screen.getByRole("button", { name: "settings" }));
    await waitFor(() =>
      expect(host.calls("host/openConfiguration")).toEqual([
        { source: "/w/.vscode/mcp.json", line: 12, column: 5 },
        { source: "settings" },
      ]),
    );
    expect(await axeFindings(container)).toEqual([]);
  });

  test("the sidecar does not run: why, and what to do", async () => {
    const host = new FakeHost(task(), [], {
      "host/ready": () => ({ status: { state: "failed", reason: "It is not there." } }),
    });
    const { user, container } = showApp(host);
    await screen.findByText("Assent is not running. It is not there.");
    await user.click(screen.getByRole("button", { name: "Restart" }));
    await user.click(screen.getByRole("button", { name: "Show Log" }));
    await waitFor(() => expect(host.calls("host/showLog")).toHaveLength(1));
    expect(host.calls("host/restartSidecar")).toHaveLength(1);
    await host.caughtUp();
    expect(host.calls("task/list")).toEqual([]);
    expect(await axeFindings(container)).toEqual([]);
  });

  test("the sidecar restarts: everything is read again from the last event on", async () => {
    const host = new FakeHost(task({ lastNumber: 4 }), [message(1, call())]);
    host.servers = [server()];
    showApp(host);
    await screen.findByText("running", { exact: false, selector: ".row-state" });
    await host.tell("host/sidecarStatus", {
      state: "restarting",
      retryInMs: 3000,
      reason: "It exited with code 2.",
    });
    await screen.findByText("Assent stopped: It exited with code 2.", { exact: false });

    host.task = task({ lastNumber: 5 });
    const lost = { type: "lost", reason: "Assent stopped while the call ran." } as const;
    host.messages = [message(1, call({ endedAt: at + 10, result: lost }))];
    await host.tell("host/sidecarStatus", { state: "running" });
    await screen.findByText("Assent stopped while the call ran.");
    expect(screen.queryByText(/^Assent stopped:/)).toBeNull();
    expect(host.calls("task/open")).toEqual([
      { taskId: "t1", after: 0 },
      { taskId: "t1", after: 4 },
    ]);
    expect(host.calls("task/list")).toHaveLength(2);
    expect(host.calls("server/list")).toHaveLength(2);
  });

  test("the sidecar lost the open task: another one is opened", async () => {
    const host = new FakeHost(task(), [notice(1, "one")]);
    showApp(host);
    await screen.findByText("one");
    host.task = task({ id: "t2", title: "Second" });
    host.messages = [notice(1, "two")];
    await host.tell("host/sidecarStatus", { state: "running" });
    await screen.findByText("two");
    expect(screen.queryByText("one")).toBeNull();
  });

  test("the link is lost: it says so, and goes on when there is one again", async () => {
    const host = new FakeHost(task(), [notice(1, "one")]);
    const { session } = showApp(host);
    await screen.findByText("one");
    session.down(2000);
    await screen.findByText("The connection to Assent was lost.", { exact: false });
    host.connect(session);
    await waitFor(() => expect(screen.queryByText(/is lost/)).toBeNull());
    await waitFor(() => expect(host.calls("task/open")).toHaveLength(2));
  });

  test("the store fails: the person is told", async () => {
    const host = new FakeHost(task());
    showApp(host);
    await screen.findByRole("region", { name: "First steps" });
    await host.tell("storage/failed", { message: "Tasks are not kept: the disk is full." });
    await screen.findByText("Tasks are not kept: the disk is full.");
  });

  test("the store works again: that is said instead, until the person has read it", async () => {
    const host = new FakeHost(task());
    const { user } = showApp(host);
    await screen.findByRole("region", { name: "First steps" });
    await host.tell("storage/failed", { message: "The disk is full." });
    await screen.findByText("The disk is full.");
    await host.tell("storage/recovered", { message: "Tasks are kept again." });
    await screen.findByText("Tasks are kept again.");
    expect(screen.queryByText("The disk is full.")).toBeNull();
    await user.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByText("Tasks are kept again.")).toBeNull();
  });

  test("a panel that opens later hears how the store is", async () => {
    const host = new FakeHost(task(), [], {
      "task/list": () => ({
        tasks: [task()],
        storageFailure: "The disk is full.",
        storageNote: "It was set aside.",
      }),
    });
    showApp(host);
    await screen.findByText("The disk is full.");
    await screen.findByText("It was set aside.");
  });

  test("a page to open: the whole URL, and what the person did with it", async () => {
    const first = { id: 1, url: "https://a.example/x?y=%26", reason: "The server a asks." };
    const second = { id: 2, url: "https://b.example/", reason: "The server b asks." };
    const host = new FakeHost(task(), [], {
      "host/ready": () => ({ status: { state: "running" }, pages: [first] }),
      "host/pageDone": () => null,
    });
    const { user, container } = showApp(host);
    const link = await screen.findByRole("link", { name: first.url });
    expect(link.getAttribute("href")).toBe(first.url);
    screen.getByText(first.reason);
    await host.tell("host/pages", { pages: [first, second] });
    await screen.findByRole("link", { name: second.url });
    expect(await axeFindings(container)).toEqual([]);
    // jsdom cannot open pages, and says so on its console.
    link.addEventListener("click", (event) => event.preventDefault());
    await user.click(link);
    const [, refuse] = screen.getAllByRole("button", { name: "Do Not Open" });
    if (refuse !== undefined) await user.click(refuse);
    await waitFor(() =>
      expect(host.calls("host/pageDone")).toEqual([
        { id: 1, opened: true },
        { id: 2, opened: false },
      ]),
    );
    await host.tell("host/pages", { pages: [] });
    await waitFor(() => expect(screen.queryByRole("link")).toBeNull());
  });

  test("an action fails: why, until it is put away", async () => {
    const host = new FakeHost(task(), [], {
      "task/create": () => {
        throw new ResponseError(ErrorCode.InternalError, "No more tasks today.");
      },
    });
    const { user } = showApp(host);
    await screen.findByRole("region", { name: "First steps" });
    await user.click(screen.getByRole("button", { name: "New Task" }));
    await screen.findByText("No more tasks today.");
    await user.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByText("No more tasks today.")).toBeNull();
  });
});
