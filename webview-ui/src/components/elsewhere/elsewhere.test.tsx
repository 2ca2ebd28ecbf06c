import { type Elsewhere, ErrorCode, type Message, type SaveDraftParams } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import {
  answered,
  ask,
  at,
  call,
  elicitation,
  mcpTask,
  message,
  openAsk,
  sampling,
  server,
  task,
} from "../../testing/samples.ts";
import { whatBecomesOf } from "./elsewhereWords.ts";

// A task of another window in the whole panel, over a real connection.
vi.mock("../chat/useArmed.ts", () => ({ useArmed: () => true }));

const elsewhere: Elsewhere = { window: "VS Code: web", since: at };
const kept = { ...ask("a1", elicitation()), inputKey: "\x003\0confirm" };
const legacy = ask("a2", elicitation(undefined, { serverName: "mailer" }));
const both: readonly Message[] = [
  message(1, call({ serverName: "mailer" })),
  message(2, legacy),
  message(3, call()),
  message(4, kept),
];
const away = task({ openAsks: 2, elsewhere });
const here = task({ openAsks: 2 });

const banner = async (words: string | RegExp) => {
  const text = await screen.findByText(words);
  const found = text.closest<HTMLElement>("[role=status]");
  if (found === null) throw new Error(`${words} is in no banner`);
  return within(found);
};
const reason = () => screen.findByRole("textbox", { name: "Reason" });

/** A host that lets the panel take over its task. */
function hostOf(messages: readonly Message[], brought: readonly Message[], part = away): FakeHost {
  const host: FakeHost = new FakeHost(part, messages, {
    "task/takeOver": () => {
      host.task = { ...here, lastNumber: 2 };
      host.messages = brought;
      return host.task;
    },
  });
  return host;
}

describe("a task that is live in another window", () => {
  test("says where, and what continuing it here does, and is continued", async () => {
    const host = hostOf(both, [message(4, { ...kept, draft: { reason: "typed there" } })]);
    const { user, container } = showApp(host);
    const said = await banner("Live in another window: VS Code: web.");
    const button = said.getByRole("button", { name: "Continue Here" });
    expect(
      document.getElementById(button.getAttribute("aria-describedby") ?? "")?.textContent,
    ).toBe(
      "If you continue here: 1 question comes along, with what was typed; 1 question and 1 call end, because the server waits for that window.",
    );
    expect(await axeFindings(container)).toEqual([]);
    await user.click(button);
    const input = await reason();
    expect(input).toHaveProperty("value", "typed there");
    expect(host.calls("task/takeOver")).toEqual([{ taskId: "t1" }]);
    expect(screen.queryByText(/in another window/)).toBeNull();
  });

  test("shows its questions to be read, with the same way on", async () => {
    const host = hostOf(both, []);
    const { user } = showApp(host);
    const first = await screen.findByRole("region", { name: "mailer asks" });
    within(first).getByText(/It ends unanswered/);
    expect(screen.queryByRole("textbox", { name: "Reason" })).toBeNull();
    for (const name of ["Submit", "Decline", "Cancel"]) {
      expect(screen.queryByRole("button", { name })).toBeNull();
    }
    within(first).getByText(/^Waits in another window\./);
    await user.click(screen.getByRole("button", { name: "Next Question" }));
    const second = screen.getByRole("region", { name: "database asks" });
    expect(within(second).queryByText(/It ends unanswered/)).toBeNull();
    await user.click(within(second).getByRole("button", { name: "Continue Here" }));
    expect(host.calls("task/takeOver")).toHaveLength(1);
  });

  test("is neither renamed, nor closed, nor used", async () => {
    const host = hostOf([], []);
    host.servers = [server()];
    const { user } = showApp(host);
    await banner(/^Live in another window/);
    for (const what of ["Rename Task", "Close Task"]) {
      const button = screen.getByRole("button", { name: `${what}: continue it here first` });
      expect(button.getAttribute("aria-disabled")).toBe("true");
      await user.click(button);
    }
    expect(screen.queryByRole("textbox")).toBeNull();
    expect(screen.queryByText("Close this task?")).toBeNull();
    screen.getByText(/^This task is live in another window\. Continue it here/);
  });

  test("offers no way to end what goes on there", async () => {
    const approved = ask("s1", sampling(), answered);
    showApp(hostOf([message(1, call()), message(2, approved)], []));
    await banner(/^Live in another window/);
    await screen.findByRole("region", { name: /database wanted a completion/ });
    for (const name of ["Cancel", /^Stop/])
      expect(screen.queryByRole("button", { name })).toBeNull();
  });

  test("says that its window is gone", async () => {
    showApp(hostOf(both, [], { ...away, elsewhere: { ...elsewhere, gone: true } }));
    const said = await banner("Its window (VS Code: web) is gone; what it was doing waits.");
    said.getByText(/because the server went with that window/);
  });

  test("says why it cannot be continued", async () => {
    const host = new FakeHost(away, [], {
      "task/takeOver": () => {
        throw new ResponseError(ErrorCode.InternalError, "the disk is full");
      },
    });
    const { user } = showApp(host);
    const said = await banner(/^Live in another window/);
    await user.click(said.getByRole("button", { name: "Continue Here" }));
    expect((await screen.findByRole("alert")).textContent).toContain("the disk is full");
    expect(said.getByRole("button").getAttribute("aria-disabled")).toBe("false");
  });

  test("is marked in the list of tasks and in the inbox", async () => {
    const tasks = [task(), task({ id: "t2", title: "Second", openAsks: 1, elsewhere })];
    const host = new FakeHost(task(), [], {
      "task/list": () => ({ tasks }),
      "ask/list": () => ({
        asks: [openAsk(4, { taskId: "t2", title: "Second", elsewhere: true })],
      }),
    });
    const { user, container } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "First" }));
    screen.getByRole("option", { name: /Second.*in another window/ });
    expect(await axeFindings(container)).toEqual([]);
    await user.keyboard("{Escape}");
    // What waits in another window does not wait here.
    expect(screen.queryByText(/in other tasks/)).toBeNull();
    await user.click(screen.getByRole("button", { name: /^Open Questions/ }));
    await user.click(await screen.findByRole("button", { name: /not in this window/ }));
    await waitFor(() => expect(host.calls("task/open")).toContainEqual({ taskId: "t2", after: 0 }));
  });
});

describe("a task that another window takes", () => {
  const taken = { type: "taskFollowed", task: away } as const;

  test("says so, and comes back with what was typed there", async () => {
    const host = hostOf(
      [message(4, kept)],
      [message(4, { ...kept, draft: { reason: "typed there" } })],
      here,
    );
    const { user } = showApp(host);
    await user.type(await reason(), "typed here");
    await waitFor(() => expect(host.calls("ask/draft").length).toBeGreaterThan(0));
    await host.tell("task/event", { taskId: "t1", number: 1, openAsks: 2, event: taken });
    const said = await banner("This task has moved to another window: VS Code: web.");
    screen.getByText("typed here");
    await user.click(said.getByRole("button", { name: "Continue Here" }));
    expect(await reason()).toHaveProperty("value", "typed there");
  });

  test("keeps what was typed where the other window typed nothing", async () => {
    const storage = new MemoryStorage();
    const brought = {
      ...kept,
      // How much of it was kept is for the clock to say.
      get draft() {
        return (host.calls("ask/draft").at(-1) as SaveDraftParams).draft;
      },
    };
    const host: FakeHost = hostOf([message(4, kept)], [message(4, brought)], here);
    const { user } = showApp(host, storage);
    await user.type(await reason(), "typed");
    await waitFor(() =>
      expect(host.calls("ask/draft").at(-1)).toMatchObject({ draft: { reason: "typed" } }),
    );
    await user.type(await reason(), " and not kept");
    await host.tell("task/event", { taskId: "t1", number: 1, openAsks: 2, event: taken });
    await banner(/^This task has moved/);
    await user.click(screen.getAllByRole("button", { name: "Continue Here" })[0] ?? document.body);
    expect(await reason()).toHaveProperty("value", "typed and not kept");
  });

  test("refuses an answer with the reason, and loses nothing of it", async () => {
    const host: FakeHost = new FakeHost(here, [message(4, kept)], {
      askResponse: () => {
        host.task = { ...away, lastNumber: 1 };
        throw new ResponseError(
          ErrorCode.TaskElsewhere,
          'the task "First" is live in another window (VS Code: web)',
          elsewhere,
        );
      },
      "task/takeOver": () => {
        host.task = { ...here, lastNumber: 2 };
        return host.task;
      },
    });
    const { user } = showApp(host);
    await user.type(await reason(), "mine");
    await user.click(screen.getByRole("button", { name: "Submit" }));
    const waits = await screen.findByText(/^Waits in another window/);
    const card = waits.closest<HTMLElement>("section");
    if (card === null) throw new Error("no card");
    within(card).getByText(/the task "First" is live in another window/);
    within(card).getByText("mine");
    await user.click(within(card).getByRole("button", { name: "Continue Here" }));
    expect(await reason()).toHaveProperty("value", "mine");
    expect(screen.queryByText(/is live in another window/)).toBeNull();
  });
});

describe("what becomes of a task that is continued here", () => {
  test.each<[string, readonly Message[], string | undefined]>([
    ["nothing", [], undefined],
    ["an ended call", [message(1, call({ result: { type: "cancelled" } }))], undefined],
    ["an MCP task", [message(1, call({ task: mcpTask() }))], undefined],
    [
      "two that come along",
      [message(4, kept), message(5, { ...kept, askId: "a5" })],
      "If you continue here: 2 questions come along, with what was typed.",
    ],
    [
      "one that ends",
      [message(2, legacy)],
      "If you continue here: 1 question ends, because the server waits for that window.",
    ],
  ])("%s", (_name, messages, want) => {
    expect(whatBecomesOf(messages, elsewhere)).toBe(want);
  });
});
