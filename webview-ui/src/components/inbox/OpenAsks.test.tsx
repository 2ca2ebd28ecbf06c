import type {
  ClaimAskParams,
  ClaimAskResult,
  Message,
  OpenAsk,
  UnattributedAsk,
} from "@assent/protocol";
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { valueIn } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import {
  answered,
  ask,
  at,
  elicitation,
  message,
  openAsk,
  server,
  task,
  unattributedAsk,
} from "../../testing/samples.ts";

// The clock stands, so that a slow machine does not count a second more.
beforeEach(() => {
  vi.useFakeTimers({ now: at + 90_001, toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const inbox = () => screen.findByRole("region", { name: "Open questions" });
const form = (id: number, server = "database"): Message =>
  message(id, ask(`a${id}`, elicitation(undefined, { serverName: server })));

/** Two tasks: the first asks by messages 1 and 3, the second by message 2. */
function twoTasks(handlers: ConstructorParameters<typeof FakeHost>[2] = {}): FakeHost {
  const first = task({ openAsks: 2 });
  const second = task({ id: "t2", title: "Second", openAsks: 1 });
  return new FakeHost(first, [], {
    "task/list": () => ({ tasks: [second, first] }),
    "task/open": ({ taskId }) =>
      taskId === "t1"
        ? { task: first, messages: [form(1), form(3, "files")], reset: true }
        : { task: second, messages: [form(2, "mail")], reset: true },
    "ask/list": () => ({ asks: inOrder }),
    ...handlers,
  });
}

const inOrder: readonly OpenAsk[] = [
  openAsk(1),
  openAsk(2, {
    taskId: "t2",
    title: "Second",
    wants: "mcp_sampling",
    origin: { serverName: "mail" },
    text: "Sum up\u202e this.",
  }),
  openAsk(3, {
    wants: "mcp_url_elicitation",
    origin: { serverName: "files", resourceUri: "file:///a" },
    text: "",
  }),
];

describe("the inbox", () => {
  test("has the questions of every task, the oldest first, and the focus at the oldest", async () => {
    const { user, session, container } = showApp(twoTasks());
    await user.click(await screen.findByRole("button", { name: "Open Questions (3 waiting)" }));
    const region = await inbox();
    const headings = await within(region).findAllByRole("heading", { level: 3 });
    expect(headings.map(({ textContent }) => textContent)).toEqual(["First", "Second"]);
    const rows = (name: string) =>
      within(within(region).getByRole("list", { name }))
        .getAllByRole("button")
        .map(({ textContent }) => textContent);
    expect(rows("First")).toEqual([
      "Delete 1,204 rows?database asks1 min ago, during the tool call cleanupOpen",
      "files wants you to open a page1 min ago, while file:///a is readOpen",
    ]);
    expect(rows("Second")).toEqual(["Sum up[U+202E] this.mail wants to ask a model1 min agoOpen"]);
    expect(await axeFindings(container)).toEqual([]);
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("region", { name: "Open questions" })).toBeNull();

    session.actions.reveal({ kind: "openAsks" });
    const [oldest] = within(await inbox()).getAllByRole("button", { name: /database asks/ });
    expect(document.activeElement).toBe(oldest);
  });

  test("leads to the card in any task", async () => {
    const host = twoTasks();
    const { user } = showApp(host);
    await host.tell("host/reveal", { kind: "openAsks" });
    await user.click(
      await within(await inbox()).findByRole("button", { name: /mail wants to ask a model/ }),
    );
    const card = await screen.findByRole("region", { name: "mail asks" });
    await waitFor(() => expect(document.activeElement).toBe(card));
    expect(screen.queryByRole("region", { name: "Open questions" })).toBeNull();
    screen.getByRole("button", { name: "Second" });
  });

  test("is read again when a question comes or goes, and says when none is left", async () => {
    let asks: readonly OpenAsk[] = [openAsk(1)];
    const host = new FakeHost(task({ openAsks: 1 }), [form(1)], { "ask/list": () => ({ asks }) });
    const { user, session } = showApp(host);
    await user.click(await screen.findByRole("button", { name: /^Open Questions \(1/ }));
    await within(await inbox()).findByRole("button", { name: /database asks/ });
    // Opened while it was being read, it is read once more.
    await waitFor(() =>
      expect(session.getState().inbox).toMatchObject({ reading: false, missed: false }),
    );
    const readings = host.calls("ask/list").length;
    await host.event({
      type: "messageAdded",
      message: message(2, { type: "notice", level: "info", text: "Hm." }),
    });
    await screen.findByText("Hm.");
    await host.caughtUp();
    expect(host.calls("ask/list")).toHaveLength(readings);
    asks = [];
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
    await within(await inbox()).findByText("No question waits for you.");
    await screen.findByRole("button", { name: "Open Questions" });
  });

  test("that is too long or cannot be read says so", async () => {
    let fail = true;
    const host = twoTasks({
      "ask/list": () => {
        if (fail) throw new ResponseError(-32603, "The disk is gone.");
        return { asks: inOrder, truncated: true };
      },
    });
    const { user } = showApp(host);
    await host.tell("host/reveal", { kind: "openAsks" });
    await screen.findByText("The list could not be read: The disk is gone.");
    fail = false;
    await user.click(screen.getByRole("button", { name: "Try Again" }));
    await screen.findByText("Showing the oldest 3 questions. More are waiting.");
  });
});

test("a workspace that does not answer is named in place of its questions", async () => {
  const host = twoTasks({ "ask/list": () => ({ notAnswering: ["api"] }) });
  showApp(host);
  await host.tell("host/reveal", { kind: "openAsks" });
  await screen.findByText(
    "The workspace api does not respond now. Its questions appear when it does.",
  );
  expect(screen.queryByText("No question waits for you.")).toBeNull();
});

describe("the questions of another workspace", () => {
  const api = { workspace: "api" } as const;
  const theirs = openAsk(9, { ...api, taskId: "t9", title: "Theirs", time: at - 5, simple: true });

  test("come last, with its name, and are answered in place", async () => {
    const host = twoTasks({
      "ask/list": () => ({
        asks: [...inOrder, theirs],
        unattributed: [unattributedAsk("u9", api)],
      }),
      askResponse: () => ({ outcome: answered }),
    });
    const { user, container } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Open Questions (5 waiting)" }));
    const region = await inbox();
    const headings = await within(region).findAllByRole("heading", { level: 3 });
    expect(headings.map(({ textContent }) => textContent)).toEqual([
      "First",
      "Second",
      "Of no task yet api",
      "Theirs api",
    ]);
    expect(await axeFindings(container)).toEqual([]);
    const list = within(region).getByRole("list", { name: "Theirs api" });
    const submit = within(list).getByRole("button", { name: "Submit" });
    await waitFor(() => expect(submit.getAttribute("aria-disabled")).toBe("false"));
    await user.click(submit);
    await waitFor(() => expect(host.calls("askResponse")).toMatchObject([{ taskId: "t9" }]));
  });

  test("open their task, which is in no list, with the name of the workspace", async () => {
    const other = task({ id: "t9", title: "Theirs", openAsks: 1, ...api });
    const host = twoTasks({
      "task/open": ({ taskId }) =>
        taskId === "t9"
          ? { task: other, messages: [form(9, "mail")], reset: true }
          : { task: task({ openAsks: 2 }), messages: [form(1), form(3, "files")], reset: true },
      "ask/list": () => ({ asks: [theirs] }),
    });
    const { user, session } = showApp(host);
    await host.tell("host/reveal", { kind: "openAsks" });
    await user.click(await within(await inbox()).findByRole("button", { name: /database asks/ }));
    await screen.findByRole("region", { name: "mail asks" });
    const readings = host.calls("task/list").length;
    await host.tell("task/event", {
      taskId: "t9",
      number: other.lastNumber + 1,
      openAsks: 1,
      event: { type: "taskChanged", task: { ...other, title: "Renamed" } },
      ...api,
    });
    await user.click(await screen.findByRole("button", { name: /^Renamed\s*api$/ }));
    expect(screen.queryByRole("option", { name: /Renamed/ })).toBeNull();
    await host.caughtUp();
    expect(host.calls("task/list")).toHaveLength(readings);
    expect(session.getState().conversation?.task?.title).toBe("Renamed");
  });

  test("are answered in their task, of which nothing else is offered that needs its window", async () => {
    const other = task({ id: "t9", title: "Theirs", openAsks: 1, running: true, ...api });
    const said: readonly Message[] = [
      message(1, { type: "user", text: "Look it up." }),
      message(2, { type: "model", text: "I do.", end: { reason: "endTurn", at } }),
      form(9, "mail"),
    ];
    const host = twoTasks({
      "task/open": ({ taskId }) =>
        taskId === "t9"
          ? { task: other, messages: [...said], reset: true }
          : { task: task({ id: "t3", title: "Own" }), messages: [], reset: true },
      "chat/stop": () => ({ stopped: true }),
      "task/create": () => task({ id: "t3", title: "Own" }),
      askResponse: () => ({ outcome: answered }),
      "ask/list": () => ({ asks: [theirs] }),
    });
    host.servers = [server()];
    const { user, container } = showApp(host);
    await host.tell("host/reveal", { kind: "task", taskId: "t9" });
    const instead = await screen.findByRole("region", { name: "Another workspace" });
    within(instead).getByText(
      "This conversation belongs to api. Continue it in a window of that workspace.",
    );
    screen.getByRole("button", { name: /^Theirs\s*api$/ });
    expect(screen.queryByRole("form", { name: "Message to the model" })).toBeNull();
    expect(screen.queryByRole("region", { name: "Use a server" })).toBeNull();
    expect(screen.queryByRole("button", { name: /Branch|Edit and Resend/ })).toBeNull();
    expect(await axeFindings(container)).toEqual([]);

    await user.click(screen.getByRole("button", { name: "More Actions" }));
    screen.getByRole("menuitem", { name: "Find in Task" });
    expect(screen.queryByRole("menuitem", { name: "Delete Task" })).toBeNull();
    await user.keyboard("{Escape}");

    await user.click(within(instead).getByRole("button", { name: "Stop" }));
    await waitFor(() => expect(host.calls("chat/stop")).toEqual([{ taskId: "t9" }]));
    const card = screen.getByRole("region", { name: "mail asks" });
    const submit = within(card).getByRole("button", { name: "Submit" });
    await waitFor(() => expect(submit.getAttribute("aria-disabled")).toBe("false"));
    await user.click(submit);
    await waitFor(() => expect(host.calls("askResponse")).toMatchObject([{ taskId: "t9" }]));

    await host.tell("host/reveal", { kind: "toolRunner" }); // which is the own workspace's
    await screen.findByRole("region", { name: "Use a server" });
  });

  test("are read when the sidecar tells of them", async () => {
    let asks: readonly OpenAsk[] = [];
    const host = new FakeHost(task(), [], { "ask/list": () => ({ asks }) });
    showApp(host);
    await screen.findByRole("button", { name: "Open Questions" });
    asks = [theirs];
    await host.tell("ask/othersChanged", {});
    await screen.findByRole("button", { name: "Open Questions (1 waiting)" });
  });
});

describe("a question of no task", () => {
  /** The inbox of two tasks with a question that either may have caused. */
  function unplaced(
    claim?: (params: ClaimAskParams) => ClaimAskResult,
    candidates = unattributedAsk("u1").candidates,
    part: Partial<UnattributedAsk> = {},
    more: ConstructorParameters<typeof FakeHost>[2] = {},
  ): FakeHost {
    const asked = { ...unattributedAsk("u1"), ...(candidates && { candidates }), ...part };
    let unattributed: readonly UnattributedAsk[] = [asked];
    const host = twoTasks({
      "ask/list": () => ({ asks: inOrder, unattributed }),
      "ask/claim": (params) => {
        const result = claim?.(params) ?? {};
        unattributed = [];
        return result;
      },
      ...more,
    });
    host.servers = [server({ name: "device", source: "/w/.vscode/mcp.json" })];
    return host;
  }
  const item = async () =>
    within(await inbox()).findByRole("listitem", { name: "Which **port**? device asks" });

  test("comes first, with the calls that may have caused it, and is counted", async () => {
    const { user, container } = showApp(unplaced());
    await user.click(await screen.findByRole("button", { name: "Open Questions (4 waiting)" }));
    const headings = await within(await inbox()).findAllByRole("heading", { level: 3 });
    expect(headings.map(({ textContent }) => textContent)).toEqual([
      "Of no task yet",
      "First",
      "Second",
    ]);
    const question = await item();
    expect(document.activeElement).toBe(question);
    const ways = within(question).getByRole("group", { name: "Assign to a task" });
    expect(
      within(ways)
        .getAllByRole("button")
        .map(({ textContent }) => textContent),
    ).toEqual([
      "Firstflash, running for 1 min 30 s",
      "Secondfile:///a, cancelled here, started just now",
      "In a New Task",
      "Dismiss",
    ]);
    expect(within(question).getByText("Which **port**?").tagName).toBe("STRONG");
    within(question).getByText("configured in .vscode/mcp.json");
    expect(await axeFindings(container)).toEqual([]);
  });

  test("is placed in the task that the person chooses, and shown there", async () => {
    const host = unplaced(() => ({ taskId: "t2", messageId: 2 }));
    const { user } = showApp(host);
    await host.tell("host/reveal", { kind: "openAsks" });
    await user.click(within(await item()).getByRole("button", { name: /^Second/ }));
    const card = await screen.findByRole("region", { name: "mail asks" });
    await waitFor(() => expect(document.activeElement).toBe(card));
    expect(host.calls("ask/claim")).toEqual([{ id: "u1", taskId: "t2", messageId: 6 }]);
    await screen.findByRole("button", { name: "Open Questions (3 waiting)" });
  });

  test("with one possible call, its task is on the button, and can be changed", async () => {
    const [only] = unattributedAsk("u1").candidates ?? [];
    const host = unplaced(() => ({ taskId: "t2", messageId: 2 }), only && [only]);
    const { user, container } = showApp(host);
    await host.tell("host/reveal", { kind: "openAsks" });
    const question = within(await item());
    question.getByText(/One call may have caused it: flash, running for 1 min 30 s\.$/);
    expect(await axeFindings(container)).toEqual([]);
    await user.click(question.getByRole("button", { name: "Change…" }));
    expect(document.activeElement).toBe(await item());
    question.getByRole("button", { name: "In a New Task" });
    expect(question.queryByRole("button", { name: /^Answer/ })).toBeNull();
    await user.keyboard("{Escape}");
    await host.tell("host/reveal", { kind: "openAsks" });
    await user.click(within(await item()).getByRole("button", { name: "Answer, in “First”" }));
    await screen.findByRole("region", { name: "mail asks" });
    expect(host.calls("ask/claim")).toEqual([
      { id: "u1", taskId: "t1", messageId: only?.messageId },
    ]);
  });

  describe("that is known whole", () => {
    const [only, other] = unattributedAsk("u1").candidates ?? [];
    const form: Partial<UnattributedAsk> = {
      question: {
        ...elicitation([
          { type: "string", name: "port", title: "Port", required: true },
          { type: "string", name: "speed", title: "Speed", pattern: "^[0-9]+$" },
        ]),
        serverName: "device",
      },
    };
    const placed = () => ({ taskId: "t2", messageId: 2, askId: "a2" });
    const shown = async () =>
      within(await inbox()).findByRole("region", { name: "Delete 1,204 rows? device asks" });

    /** A click is taken once the question was in sight for a moment. */
    async function armed(name: string): Promise<HTMLElement> {
      const button = within(await shown()).getByRole("button", { name });
      await waitFor(() => expect(button.getAttribute("aria-disabled")).toBe("false"));
      return button;
    }

    test("is placed in the task of the only possible call and answered, with one press", async () => {
      const host = unplaced(placed, only && [only], form);
      const { user, container } = showApp(host);
      await user.click(await screen.findByRole("button", { name: "Open Questions (4 waiting)" }));
      const card = within(await shown());
      expect(document.activeElement).toBe(await shown());
      card.getByText(/One call may have caused it: flash, running for 1 min 30 s\./);
      expect(await axeFindings(container)).toEqual([]);
      await user.type(card.getByRole("textbox", { name: /^Port/ }), "8080");
      await user.click(await armed("Submit, in “First”"));
      await waitFor(() => expect(host.calls("askResponse")).toHaveLength(1));
      expect(host.calls("ask/claim")).toEqual([
        { id: "u1", taskId: "t1", messageId: only?.messageId },
      ]);
      expect(host.calls("askResponse")).toEqual([
        {
          taskId: "t2",
          askId: "a2",
          askResponse: "yesButtonClicked",
          elicitationContent: { port: "8080" },
        },
      ]);
    });

    test("is declined with one press", async () => {
      const host = unplaced(placed, only && [only], form);
      const { user } = showApp(host);
      await host.tell("host/reveal", { kind: "openAsks" });
      await user.click(await armed("Decline"));
      await waitFor(() => expect(host.calls("askResponse")).toHaveLength(1));
      expect(host.calls("askResponse")).toEqual([
        { taskId: "t2", askId: "a2", askResponse: "noButtonClicked" },
      ]);
    });

    test("is answered with the keys of the dock", async () => {
      const host = unplaced(placed, only && [only], form);
      const { user } = showApp(host);
      await host.tell("host/reveal", { kind: "openAsks" });
      await user.type(within(await shown()).getByRole("textbox", { name: /^Port/ }), "1");
      await armed("Submit, in “First”");
      await user.keyboard("{Control>}{Enter}{/Control}");
      await waitFor(() => expect(host.calls("askResponse")).toHaveLength(1));
    });

    test("is shown in its task if its answer is refused", async () => {
      const host = unplaced(placed, only && [only], form, {
        askResponse: () => {
          throw new ResponseError(-32602, "The disk is full.");
        },
      });
      const { user } = showApp(host);
      await host.tell("host/reveal", { kind: "openAsks" });
      await user.click(await armed("Decline"));
      await screen.findByText("The disk is full.", { exact: false });
      await screen.findByRole("region", { name: "mail asks" });
    });

    test("stays with what was typed if it cannot be placed", async () => {
      const host = unplaced(
        () => {
          throw new ResponseError(-32602, "The question cannot be of that call.");
        },
        only && [only],
        form,
      );
      const { user } = showApp(host);
      await host.tell("host/reveal", { kind: "openAsks" });
      await user.type(within(await shown()).getByRole("textbox", { name: /^Port/ }), "8080");
      await user.click(await armed("Submit, in “First”"));
      await within(await shown()).findByText("The question cannot be of that call.");
      expect(valueIn(within(await shown()).getByRole("textbox", { name: /^Port/ }))).toBe("8080");
      expect(host.calls("askResponse")).toEqual([]);
    });

    test("can be placed elsewhere", async () => {
      const host = unplaced(placed, only && [only], form);
      const { user, container } = showApp(host);
      await host.tell("host/reveal", { kind: "openAsks" });
      const card = within(await shown());
      await user.click(card.getByRole("button", { name: "Change…" }));
      expect(document.activeElement).toBe(await shown());
      card.getByRole("radio", { name: /^First flash, running/, checked: true });
      await user.click(card.getByRole("radio", { name: "A new task" }));
      expect(await axeFindings(container)).toEqual([]);
      await user.type(card.getByRole("textbox", { name: /^Port/ }), "8080");
      await user.click(await armed("Submit, in a new task"));
      await waitFor(() => expect(host.calls("askResponse")).toHaveLength(1));
      expect(host.calls("ask/claim")).toEqual([{ id: "u1", newTask: true }]);
    });

    test("with several possible calls is answered once the person has chosen one", async () => {
      const host = unplaced(placed, undefined, form);
      const { user } = showApp(host);
      await host.tell("host/reveal", { kind: "openAsks" });
      const card = within(await shown());
      await user.type(card.getByRole("textbox", { name: /^Port/ }), "8080");
      await user.click(await armed("Submit"));
      await card.findByText("Choose the task that it belongs to.");
      expect(document.activeElement).toBe(card.getByRole("radio", { name: /^First/ }));
      expect(host.calls("ask/claim")).toEqual([]);
      await user.click(card.getByRole("radio", { name: /^Second/ }));
      await user.click(await armed("Submit, in “Second”"));
      await waitFor(() => expect(host.calls("askResponse")).toHaveLength(1));
      expect(host.calls("ask/claim")).toEqual([
        { id: "u1", taskId: "t2", messageId: other?.messageId },
      ]);
    });

    test("is not placed in another task than the one that the person saw", async () => {
      let candidates = only && [only];
      const asked = { ...unattributedAsk("u1"), ...form };
      const host = twoTasks({
        "ask/list": () => ({ unattributed: [{ ...asked, ...(candidates && { candidates }) }] }),
      });
      const { user } = showApp(host);
      await host.tell("host/reveal", { kind: "openAsks" });
      await armed("Submit, in “First”");
      candidates = other && [other];
      await host.tell("ask/unattributedChanged", { count: 1 });
      const card = within(await shown());
      await card.findByRole("radio", { name: /^Second/, checked: false });
      await user.type(card.getByRole("textbox", { name: /^Port/ }), "8080");
      await user.click(await armed("Submit"));
      await card.findByText("Choose the task that it belongs to.");
      expect(host.calls("ask/claim")).toEqual([]);
    });

    test("is dismissed without a task", async () => {
      const host = unplaced(undefined, undefined, form);
      const { user } = showApp(host);
      await host.tell("host/reveal", { kind: "openAsks" });
      await armed("Submit");
      const card = within(await shown());
      await user.click(card.getByRole("button", { name: "More Ways to Decline" }));
      await user.click(card.getByRole("menuitem", { name: "Dismiss without an answer" }));
      await waitFor(() => expect(host.calls("ask/claim")).toEqual([{ id: "u1", dismiss: true }]));
    });

    test("is a page that opens with the press that places it", async () => {
      const page: Partial<UnattributedAsk> = {
        wants: "mcp_url_elicitation",
        question: {
          type: "mcp_url_elicitation",
          serverName: "device",
          message: "Log in",
          url: "https://a.example/",
        },
      };
      const opens = { "ask/openUrl": () => ({ opened: true }) };
      const host = unplaced(placed, only && [only], page, opens);
      const { user } = showApp(host);
      await host.tell("host/reveal", { kind: "openAsks" });
      const card = await within(await inbox()).findByRole("region", {
        name: "Log in device wants you to open a page",
      });
      const button = within(card).getByRole("button", { name: "Open in Browser, in “First”" });
      await waitFor(() => expect(button.getAttribute("aria-disabled")).toBe("false"));
      await user.click(button);
      await waitFor(() =>
        expect(host.calls("ask/openUrl")).toEqual([{ taskId: "t2", askId: "a2" }]),
      );
    });
  });

  test("has a line in a task that it may belong to, which leads to it", async () => {
    const { user, container } = showApp(unplaced());
    const line = within(await screen.findByRole("region", { name: "May belong to this task" }));
    expect(await axeFindings(container)).toEqual([]);
    await user.click(line.getByRole("button", { name: "Which **port**? device asks" }));
    await waitFor(async () => expect(document.activeElement).toBe(await item()));
  });

  test.each([
    { way: "In a New Task", params: { id: "u1", newTask: true }, result: { taskId: "t2" } },
    { way: "Dismiss", params: { id: "u1", dismiss: true }, result: {} },
  ])("may be put away: $way", async ({ way, params, result }) => {
    const host = unplaced(() => result);
    const { user } = showApp(host);
    await host.tell("host/reveal", { kind: "openAsks" });
    await user.click(within(await item()).getByRole("button", { name: way }));
    await screen.findByRole("button", { name: "Open Questions (3 waiting)" });
    expect(host.calls("ask/claim")).toEqual([params]);
    if (result.taskId !== undefined) await screen.findByRole("button", { name: "Second" });
    else
      await waitFor(async () =>
        expect(document.activeElement).toBe(
          within(await inbox()).getByRole("heading", { level: 2 }),
        ),
      );
  });

  test("stays where the choice was refused, with the reason", async () => {
    const host = unplaced(() => {
      throw new ResponseError(-32602, "The question cannot be of that call.");
    });
    const { user } = showApp(host);
    await host.tell("host/reveal", { kind: "openAsks" });
    const first = within(await item()).getByRole("button", { name: /^First/ });
    await user.click(first);
    await within(await item()).findByText("The question cannot be of that call.");
    await user.click(first);
    await waitFor(() => expect(host.calls("ask/claim")).toHaveLength(2));
  });

  test("is read when the sidecar tells of it, and is where the notification leads", async () => {
    let unattributed: readonly UnattributedAsk[] = [];
    const host = new FakeHost(task(), [], { "ask/list": () => ({ unattributed }) });
    showApp(host);
    await screen.findByRole("button", { name: "Open Questions" });
    unattributed = [unattributedAsk("u1")];
    await host.tell("ask/unattributedChanged", { count: 1 });
    await screen.findByRole("button", { name: "Open Questions (1 waiting)" });
    await host.tell("host/reveal", { kind: "ask" });
    const question = await item();
    expect(document.activeElement).toBe(question);
  });
});

test("the task list counts the questions of each task, as they come and go", async () => {
  const host = twoTasks();
  const { user } = showApp(host);
  await user.click(await screen.findByRole("button", { name: /^(First|Second)$/ }));
  screen.getByRole("option", { name: /^Second, 1 open question,/ });
  screen.getByRole("option", { name: /^First, 2 open questions,/ });
  await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 1);
  await screen.findByRole("option", { name: /^First, 1 open question,/ });
});

describe("next and previous", () => {
  const focused = async (name: string) => {
    const card = await screen.findByRole("region", { name });
    await waitFor(() => expect(document.activeElement).toBe(card));
  };

  test("go through the questions of all tasks, and round", async () => {
    const host = twoTasks();
    showApp(host);
    const next = () => host.tell("host/reveal", { kind: "nextAsk" });
    await next();
    await focused("database asks");
    await next();
    await focused("mail asks");
    await next();
    await focused("files asks");
    await next();
    await focused("database asks");
    await host.tell("host/reveal", { kind: "previousAsk" });
    await focused("files asks");
  });

  test("stop at a question of no task", async () => {
    const unattributed = [
      unattributedAsk("u1", { time: at + 2 }),
      unattributedAsk("u2", { time: at + 2 }),
    ];
    const host = twoTasks({ "ask/list": () => ({ asks: [openAsk(1), openAsk(3)], unattributed }) });
    showApp(host);
    const next = () => host.tell("host/reveal", { kind: "nextAsk" });
    await next();
    await focused("database asks");
    const stops: (string | undefined)[] = [];
    for (let i = 0; i < 2; i++) {
      await next();
      await waitFor(() => expect(stops).not.toContain(document.activeElement?.id));
      await waitFor(() => expect(document.activeElement?.id).toMatch(/^ask-u/));
      stops.push(document.activeElement?.id);
    }
    expect(stops).toEqual(["ask-u1", "ask-u2"]);
    await next();
    await focused("files asks");
  });

  test("go on from the card that the person is at", async () => {
    const host = twoTasks();
    const { session, user } = showApp(host);
    session.actions.openTask("t1");
    await user.click(await screen.findByRole("button", { name: "Next Question" }));
    const card = await screen.findByRole("region", { name: "files asks" });
    card.focus();
    // As VS Code has it while it runs a command.
    card.blur();
    await host.tell("host/reveal", { kind: "previousAsk" });
    await focused("mail asks");
  });

  test("have keys of their own in a browser", async () => {
    showApp(twoTasks());
    await screen.findByRole("button", { name: "Open Questions (3 waiting)" });
    await focused("mail asks");
    fireEvent.keyDown(document.body, { key: "F8", altKey: true });
    await focused("files asks");
    fireEvent.keyDown(document.body, { key: "F8", altKey: true, shiftKey: true });
    await focused("mail asks");
  });

  test("have VS Code's keys, which it is told when to use", async () => {
    document.body.dataset["host"] = "vscode";
    onTestFinished(() => {
      delete document.body.dataset["host"];
    });
    const host = twoTasks({ "host/focus": () => null });
    const { session } = showApp(host);
    const begin = { focused: document.hasFocus() };
    await waitFor(() => expect(host.calls("host/focus")).toEqual([begin]));
    fireEvent.blur(window);
    fireEvent.focus(window);
    await waitFor(() =>
      expect(host.calls("host/focus")).toEqual([begin, { focused: false }, { focused: true }]),
    );
    fireEvent.keyDown(document.body, { key: "F8", altKey: true });
    expect(session.getState().reveal).toBeUndefined();
  });

  test("show the empty inbox if there is none", async () => {
    const host = new FakeHost(task());
    showApp(host);
    await host.tell("host/reveal", { kind: "nextAsk" });
    await within(await inbox()).findByText("No question waits for you.");
  });

  test("find a question on an older page, as the dock does", async () => {
    const first = task({ openAsks: 1 });
    const host = new FakeHost(first, [], {
      "task/open": ({ before = 0 }) =>
        before === 0
          ? {
              task: first,
              messages: [message(9, ask("a9", elicitation(), answered))],
              reset: true,
              earlier: true,
            }
          : { task: first, messages: [form(1)], earlier: false },
      "ask/list": () => ({ asks: [openAsk(1)] }),
    });
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Show" }));
    await focused("database asks");
  });
});
