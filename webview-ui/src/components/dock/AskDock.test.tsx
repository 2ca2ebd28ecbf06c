import type { Field, JoinedCall, Message } from "@assent/protocol";
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { isWrong, valueIn } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import { layOut } from "../../testing/layout.ts";
import {
  answered,
  ask,
  elicitation,
  message,
  openAsk,
  sampling,
  task,
} from "../../testing/samples.ts";

// In the whole panel. The half second before an ask can be answered has a test of its own, and one here.
const armed = vi.hoisted(() => ({ really: false }));
vi.mock("../ask/useClickGuard.ts", async (original) => {
  const { useClickGuard } = await original<typeof import("../ask/useClickGuard.ts")>();
  return { useClickGuard: (phase?: string) => useClickGuard(phase) || !armed.really };
});

const fields: readonly Field[] = [
  { type: "string", name: "reason", title: "Reason", required: true },
  { type: "string", name: "key", title: "Key", secret: true },
];
const form = (id: number, serverName = "database") =>
  message(id, ask(`a${id}`, elicitation(fields, { serverName })));
const said = (id: number) => message(id, { type: "notice", level: "info", text: `message ${id}` });
const ofServers = (...names: readonly string[]) =>
  names.map((name, index) => form(index + 1, name));
const hostOf = (messages: readonly Message[], handlers = {}) =>
  new FakeHost(
    task({ openAsks: messages.filter(({ body }) => body.type === "ask").length }),
    messages,
    handlers,
  );

const dock = () => screen.findByRole("region", { name: "Waiting for you" });
const card = (server: string) => screen.findByRole("region", { name: `${server} asks` });
const button = (name: string) => screen.getByRole("button", { name });
const line = (server: string) => button(`Delete 1,204 rows? ${server} asks`);
const reason = () => screen.findByRole("textbox", { name: /^Reason/ });
const settled = (messageId: number) =>
  ({ type: "askSettled", messageId, outcome: answered }) as const;

describe("an open question", () => {
  test("is one line in the conversation, and stands in the dock", async () => {
    const { container } = showApp(hostOf([said(1), form(2), said(3)]));
    const question = await card("database");
    expect((await dock()).contains(question)).toBe(true);
    const list = screen.getByRole("list", { name: "Messages" });
    const rows = within(list)
      .getAllByRole("listitem")
      .map(({ textContent }) => textContent);
    expect(rows).toEqual(["message 1", "Delete 1,204 rows? database asks", "message 3"]);
    expect(list.querySelector("input, textarea")).toBeNull();
    expect(screen.queryByRole("button", { name: "Next Question" })).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("is headed by its own words, with who asks below", async () => {
    const question = elicitation([], {
      elicitationRequest: {
        message: "Deploy \u202e**2.4.1** now?\n\nIt takes an hour.",
        fields: [],
      },
    });
    showApp(hostOf([message(1, ask("a1", question))]));
    within(await card("database")).getByRole("heading", { name: "Deploy [U+202E]2.4.1 now?" });
    button("Deploy [U+202E]2.4.1 now? database asks");
    expect(screen.getByText("It takes an hour.").closest("blockquote")).not.toBeNull();
  });

  test("is one of many, each of which is one step away, and round", async () => {
    const { user, container } = showApp(hostOf(ofServers("a", "b", "c")));
    await card("a");
    screen.getByText("1 of 3");
    expect(await axeFindings(container)).toEqual([]);
    for (const server of ["b", "c", "a"]) {
      await user.click(button("Next Question"));
      await card(server);
      expect(document.activeElement).toBe(button("Next Question"));
    }
    await user.click(button("Previous Question"));
    await card("c");
    screen.getByText("3 of 3");
    await user.click(line("b"));
    expect(document.activeElement).toBe(await card("b"));
  });

  test("of 32 is one card", async () => {
    const names = Array.from({ length: 32 }, (_, n) => `s${n}`);
    showApp(hostOf(ofServers(...names)));
    await card("s0");
    screen.getByText("1 of 32");
    expect(screen.getAllByRole("button", { name: "Submit" })).toHaveLength(1);
    expect(document.querySelectorAll(".ask-card")).toHaveLength(1);
  });

  test("that is settled is followed by the next one, and the last by the first", async () => {
    const host = hostOf(ofServers("a", "b", "c"));
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Next Question" }));
    await card("b");
    await host.event(settled(2), 2);
    await card("c");
    screen.getByText("2 of 2");
    await host.event(settled(3), 1);
    await card("a");
    await host.event(settled(1), 0);
    await waitFor(() =>
      expect(screen.queryByRole("region", { name: "Waiting for you" })).toBeNull(),
    );
  });

  test("that is settled while another is shown changes nothing there", async () => {
    const host = hostOf(ofServers("a", "b"));
    const { user } = showApp(host);
    await user.type(await reason(), "half a sen");
    await host.event(settled(2), 1);
    await screen.findByText(/^You answered/);
    expect(valueIn(await reason())).toBe("half a sen");
    expect(document.activeElement).toBe(await reason());
  });

  test("keeps all that was typed, secrets too, while another is looked at", async () => {
    const { user } = showApp(hostOf(ofServers("a", "b")));
    await user.type(await reason(), "because");
    const key = within(await card("a")).getByLabelText("Key");
    await user.type(key, "s3cret");
    await user.click(button("Next Question"));
    expect(valueIn(await reason())).toBe("");
    await user.click(button("Next Question"));
    expect(valueIn(await reason())).toBe("because");
    expect(valueIn(within(await card("a")).getByLabelText("Key"))).toBe("s3cret");
  });

  test("is the same after a reload, with its draft, its place and its size", async () => {
    const storage = new MemoryStorage();
    const first = showApp(hostOf(ofServers("a", "b")), storage);
    await first.user.click(await screen.findByRole("button", { name: "Next Question" }));
    await first.user.type(await reason(), "because");
    const body = (await card("b")).querySelector(".ask-body") ?? expect.fail("no body");
    body.scrollTop = 70;
    fireEvent.scroll(body);
    await first.user.click(button("Expand Question"));
    first.unmount();

    showApp(hostOf(ofServers("a", "b")), storage);
    const again = await card("b");
    expect(valueIn(await reason())).toBe("because");
    expect(again.querySelector(".ask-body")?.scrollTop).toBe(70);
    button("Restore Question Size");
  });

  test("that the host reveals is shown, though it was put aside", async () => {
    const host = hostOf(ofServers("a", "b"), {
      "ask/list": () => ({ asks: [openAsk(1), openAsk(2)] }),
    });
    const { user } = showApp(host);
    await card("a");
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("region", { name: "a asks" })).toBeNull();
    await host.tell("host/reveal", { kind: "message", taskId: "t1", messageId: 2 });
    const shown = await card("b");
    await waitFor(() => expect(document.activeElement).toBe(shown));
  });

  test("that cannot be drawn can be dismissed", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const odd = { ...elicitation(), type: "hologram" } as unknown as ReturnType<typeof elicitation>;
    const host = hostOf([message(1, ask("a1", odd))]);
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Dismiss the Question" }));
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([
        { taskId: "t1", askId: "a1", askResponse: "cancelButtonClicked" },
      ]),
    );
    await user.click(button("Collapse Question (Escape)"));
    button("Expand Question");
  });
});

describe("questions on pages that were not read", () => {
  const waiting = task({ openAsks: 3 });
  const between = Array.from({ length: 200 }, (_, n) => said(n + 3));
  const newest = [...between.slice(-100), form(203, "c")];
  /** A panel that shows few rows, so that a page comes only when it is asked for. */
  function showPages() {
    layOut();
    const host = new FakeHost(waiting, [], {
      "task/open": ({ before = 0 }) =>
        before === 0
          ? { task: waiting, messages: newest, reset: true, earlier: true }
          : {
              task: waiting,
              messages: [form(1, "a"), form(2, "b"), ...between.slice(0, -100)],
              earlier: false,
            },
      "ask/list": () => ({ asks: [openAsk(1), openAsk(2), openAsk(203)] }),
    });
    return { host, ...showApp(host) };
  }
  const pagesRead = (host: FakeHost) =>
    host.calls("task/open").filter((params) => (params as { before?: number }).before).length;

  test("are counted, and paged to", async () => {
    const { host, user } = showPages();
    await card("c");
    screen.getByText("3 of 3");
    await screen.findByRole("button", { name: "Open Questions (3 waiting)" });
    expect(pagesRead(host)).toBe(0);
    await user.click(button("Next Question"));
    const oldest = await card("a");
    expect(pagesRead(host)).toBe(1);
    screen.getByText("1 of 3");
    await waitFor(() => expect(document.activeElement).toBe(oldest));
  });

  test("come before the first that was read", async () => {
    const { user } = showPages();
    await card("c");
    await screen.findByRole("button", { name: "Open Questions (3 waiting)" });
    await user.click(button("Previous Question"));
    await card("b");
    screen.getByText("2 of 3");
  });
});

describe("a question of a call that came again", () => {
  const call = (joined?: JoinedCall) =>
    message(1, {
      type: "call",
      serverName: "database",
      request: { type: "tools/call", toolName: "cleanup", arguments: {} },
      ...(joined !== undefined && { joined }),
    });
  const question = message(2, ask("a2", elicitation(fields, { messageId: 1 })));
  const run = () => screen.queryByRole("button", { name: "Run Separately" });
  const both = "The same call came again. Your answer is for both.";

  test.each<[string, JoinedCall | undefined, RegExp | undefined, boolean]>([
    ["no equal call", undefined, undefined, false],
    ["one that waits", { separable: true }, /came again\. Your answer is for both/, true],
    ["one with a handle", {}, /came again\. Your answer is for both/, false],
    ["one of a host that had gone", { givenUp: true, separable: true }, /was given up/, true],
  ])("%s", async (_, joined, says, separable) => {
    const { container } = showApp(hostOf([call(joined), question]));
    const shown = await card("database");
    if (says === undefined) expect(shown.textContent).not.toContain("came again");
    else within(shown).getByText(says);
    expect(run() !== null).toBe(separable);
    expect(await axeFindings(container)).toEqual([]);
  });

  test("says so when the call comes, and runs it separately once, by keyboard too", async () => {
    const host = hostOf([call(), question], { "call/runSeparately": () => ({ started: true }) });
    const { user } = showApp(host);
    await user.type(await reason(), "half a sen");
    await host.event({ type: "callJoined", messageId: 1, joined: { separable: true } }, 1);
    expect((await screen.findByText(both)).closest('[role="status"]')).not.toBeNull();
    expect(document.activeElement).toBe(await reason());
    run()?.focus();
    await user.keyboard("{Enter}");
    await waitFor(() =>
      expect(host.calls("call/runSeparately")).toEqual([{ taskId: "t1", messageId: 1 }]),
    );
    await host.event({ type: "callJoined", messageId: 1 }, 1);
    await waitFor(() => expect(run()).toBeNull());
    expect(screen.queryByText(both)).toBeNull();
    expect(document.activeElement).toBe(await card("database"));
    expect(valueIn(await reason())).toBe("half a sen");
    await host.caughtUp();
    expect(host.calls("askResponse")).toEqual([]);
  });
});

describe("the keys", () => {
  const accepted = { taskId: "t1", askId: "a1", askResponse: "yesButtonClicked" };

  test.each(["Control", "Meta"])(
    "%s+Enter accepts, wherever in the dock the focus is",
    async (key) => {
      const host = hostOf([message(1, ask("a1", sampling()))]);
      const { user } = showApp(host);
      await screen.findByRole("region", { name: "database wants to ask a model" });
      button("Collapse Question (Escape)").focus();
      await user.keyboard(`{${key}>}{Enter}{/${key}}`);
      await waitFor(() => expect(host.calls("askResponse")).toEqual([accepted]));
      expect(screen.queryByRole("button", { name: "Expand Question" })).not.toBeNull();
    },
  );

  test("Ctrl+Enter submits a form from a text of several lines, or shows its problems", async () => {
    const host = hostOf([form(1)]);
    const { user } = showApp(host);
    await card("database");
    await user.keyboard("{Control>}{Enter}{/Control}");
    await waitFor(() =>
      expect(isWrong(screen.getByRole("textbox", { name: "Reason" }))).toBe(true),
    );
    expect(document.activeElement).toBe(await reason());
    await user.type(await reason(), "because");
    await user.keyboard("{Control>}{Enter}{/Control}");
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([
        { ...accepted, elicitationContent: { reason: "because" } },
      ]),
    );
  });

  test("Ctrl+Enter leads to the reason that prevents an answer", async () => {
    const secrets = [{ description: "an AWS access key", text: "AKIA1234" }];
    const asked = sampling({
      secrets,
      samplingRequest: {
        messages: [{ role: "user", content: [{ type: "text", text: "Use AKIA1234." }] }],
        maxTokens: 5,
      },
    });
    const host = hostOf([message(1, ask("a1", asked))]);
    const { user } = showApp(host);
    await screen.findByRole("region", { name: "database wants to ask a model" });
    await user.keyboard("{Control>}{Enter}{/Control}");
    expect(document.activeElement?.className).toBe("secrets");
    await host.caughtUp();
    expect(host.calls("askResponse")).toEqual([]);
  });

  test("Escape puts the question aside and answers nothing; the keys bring it back", async () => {
    const host = hostOf([form(1)]);
    const { user, container } = showApp(host);
    await user.type(await reason(), "because{Escape}");
    expect(screen.queryByRole("region", { name: "database asks" })).toBeNull();
    const back = button("Expand Question");
    expect(document.activeElement).toBe(back);
    expect(await axeFindings(container)).toEqual([]);
    await user.keyboard("{Control>}{Enter}{/Control}");
    expect(document.activeElement).toBe(await card("database"));
    expect(valueIn(await reason())).toBe("because");
    await host.caughtUp();
    expect(host.calls("askResponse")).toEqual([]);
  });

  test("Escape leaves a menu, and then puts the question aside", async () => {
    const { user } = showApp(hostOf([form(1)]));
    await card("database");
    await user.click(button("More Ways to Decline"));
    await user.keyboard("{Escape}");
    await card("database");
    await user.keyboard("{Escape}");
    button("Expand Question");
  });

  test("a held key answers one question", async () => {
    const host = hostOf(ofServers("a", "b"));
    showApp(host);
    await reason();
    const shown = await card("a");
    fireEvent.keyDown(shown, { key: "Enter", ctrlKey: true, repeat: true });
    await host.caughtUp();
    expect(host.calls("ask/check")).toEqual([]);
  });

  test("a question that was put aside stays so while others come, and the next one is shown", async () => {
    const host = hostOf([form(1, "a")]);
    const { user } = showApp(host);
    await card("a");
    await user.keyboard("{Escape}");
    await host.event({ type: "messageAdded", message: form(2, "b") }, 2);
    await screen.findByText("1 of 2");
    expect(screen.queryByRole("button", { name: "Submit" })).toBeNull();
    await host.event(settled(1), 1);
    await card("b");
  });
});

describe("a question that comes back before the person", () => {
  test("takes no answer that was meant for the one before", async () => {
    armed.really = true;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    try {
      const host = hostOf(ofServers("a", "b"));
      showApp(host);
      const submit = () => button("Submit").getAttribute("aria-disabled");
      await card("a");
      await waitFor(() => expect(submit()).toBe("false"));
      fireEvent.click(button("Next Question"));
      expect(submit()).toBe("true");
      await waitFor(() => expect(submit()).toBe("false"));
      fireEvent.click(button("Next Question"));
      expect(submit()).toBe("true");
    } finally {
      armed.really = false;
    }
  });
});

test("the focus returns when the last question is answered", async () => {
  const host = hostOf([said(1), form(2)]);
  const { user } = showApp(host);
  await card("database");
  const inbox = button("Open Questions (1 waiting)");
  inbox.focus();
  await host.tell("host/reveal", { kind: "message", taskId: "t1", messageId: 2 });
  await waitFor(async () => expect(document.activeElement).toBe(await card("database")));
  await user.type(await reason(), "x{Enter}");
  await host.event(settled(2), 0);
  await waitFor(() =>
    expect(document.activeElement?.getAttribute("aria-label")).toBe("Open Questions"),
  );
});
