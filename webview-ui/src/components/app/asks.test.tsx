import {
  type AskResponseResult,
  ErrorCode,
  type Field,
  type ListOpenAsksResult,
  type Outcome,
} from "@assent/protocol";
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { when } from "../../lib/format.ts";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { descriptionOf, isWrong, valueIn } from "../../testing/dom.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseWay, declineAll, dismiss } from "../../testing/menu.ts";
import {
  answered,
  ask,
  at,
  demoModel,
  elicitation,
  grant,
  grantEntry,
  message,
  otherModel,
  sampling,
  samplingReview,
  task,
} from "../../testing/samples.ts";

// Asks in the whole panel, over a real connection. The half second before an ask can be answered has
// a test of its own.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

const fields: readonly Field[] = [
  { type: "string", name: "reason", title: "Reason", required: true },
];
const form = (id = 1, askId = "a1") => message(id, ask(askId, elicitation(fields)));
const request = (id = 1) => message(id, ask("s1", sampling()));
const waiting = task({ openAsks: 1 });

const reason = () => screen.findByRole("textbox", { name: "Reason" });
const standing = (outcome: Outcome): Outcome => ({ ...outcome, standing: "declineAll" });
const submit = () => screen.getByRole("button", { name: "Submit" });
const accepted = (content: unknown, askId = "a1") => ({
  taskId: "t1",
  askId,
  askResponse: "yesButtonClicked",
  elicitationContent: content,
});

describe("a server that the person has stopped", () => {
  const declined: Outcome = { ...answered, reason: "declined", declinedAll: true };
  const sentence = "You declined everything from database in VS Code, until Assent starts again.";
  const servers = { declined: [{ serverName: "database", by: "VS Code" }] };

  test("is told of once, as the sidecar knows it, until that is taken back", async () => {
    let list: ListOpenAsksResult = {};
    const host = new FakeHost(waiting, [form()], {
      "ask/list": () => list,
      "ask/again": () => {
        list = {};
        return {};
      },
    });
    const { user, container } = showApp(host);
    await screen.findByRole("button", { name: "Decline" });
    declineAll();
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([
        { taskId: "t1", askId: "a1", askResponse: "noButtonClicked", declineAll: true },
      ]),
    );
    await host.event({ type: "askSettled", messageId: 1, outcome: declined }, 0);
    await screen.findByText(/^You declined: /);
    expect(screen.queryByText(sentence)).toBeNull();
    list = servers;
    await host.tell("ask/declinedChanged", servers);
    await screen.findByText(sentence);
    expect(await axeFindings(container)).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Ask Me Again" }));
    await waitFor(() => expect(host.calls("ask/again")).toEqual([{ serverName: "database" }]));
    await host.tell("ask/declinedChanged", {});
    await waitFor(() => expect(screen.queryByText(sentence)).toBeNull());
  });

  test("is still declined after a reload, and its rows lead to the place to change that", async () => {
    const host = new FakeHost(
      task(),
      [message(1, ask("a1", elicitation(fields), standing(declined)))],
      {
        "ask/list": () => servers,
        "policy/list": () => ({
          entries: [
            {
              type: "declinedServer",
              effect: "decline",
              serverName: "database",
              by: "VS Code",
              at,
            },
          ],
        }),
      },
    );
    const { user } = showApp(host);
    await screen.findByText(sentence);
    await user.click(await screen.findByRole("button", { name: "Change" }));
    const policy = await screen.findByRole("region", { name: "Automatic Answers" });
    await within(policy).findByText(sentence);
    within(policy).getByRole("button", { name: "Ask Me Again what database asks" });
  });

  test("stays declined where it cannot be taken back, which is said", async () => {
    const host = new FakeHost(task(), [message(1, ask("a1", elicitation(fields), declined))], {
      "ask/list": () => servers,
      "ask/again": () => {
        throw new ResponseError(ErrorCode.Unavailable, "The sidecar is not running.");
      },
    });
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Ask Me Again" }));
    await screen.findByText("The sidecar is not running.");
    screen.getByText(sentence);
  });
});

describe("an ask with a time limit", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: at, toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("says how much is left, and can be given more", async () => {
    const limited = { ...ask("a1", elicitation(fields)), expiresAt: at + 83_000 };
    const host = new FakeHost(waiting, [message(1, limited)], {
      "ask/extend": () => ({ expiresAt: at + 143_000 }),
    });
    const { user, container } = showApp(host);
    expect((await screen.findByRole("timer")).textContent).toBe("1 min 23 s left to answer");
    expect(await axeFindings(container)).toEqual([]);
    await user.click(screen.getByRole("button", { name: "More Time" }));
    await waitFor(() => expect(host.calls("ask/extend")).toEqual([{ taskId: "t1", askId: "a1" }]));
    await host.event({ type: "askExtended", messageId: 1, expiresAt: at + 143_000 });
    await waitFor(() =>
      expect(screen.getByRole("timer").textContent).toBe("2 min 23 s left to answer"),
    );
    await host.event(
      { type: "askSettled", messageId: 1, outcome: { reason: "timedOut", at: at + 143_000 } },
      0,
    );
    await screen.findByText(/^There was no time left to answer/);
    expect(screen.queryByRole("timer")).toBeNull();
  });

  test("shows the server's own deadline", async () => {
    const both = {
      ...ask("a1", elicitation(fields)),
      expiresAt: at + 83_000,
      waitsUntil: at + 300_000,
    };
    const host = new FakeHost(waiting, [message(1, both)], {});
    showApp(host);
    await screen.findByText(`The server waits until ${when(at + 300_000)}`);
    screen.getByRole("timer");
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
    await waitFor(() => expect(screen.queryByText(/^The server waits/)).toBeNull());
  });

  test("has no clock without a limit", async () => {
    showApp(new FakeHost(waiting, [form()], {}));
    await reason();
    expect(screen.queryByRole("timer")).toBeNull();
  });
});

describe("a form", () => {
  test("is answered once, even if its buttons are pressed again, and then shows the sent answer", async () => {
    const host = new FakeHost(waiting, [form()], { askResponse: () => new Promise(() => {}) });
    const { user, container } = showApp(host);
    await user.type(await reason(), "old rows");
    await user.dblClick(submit());
    await user.click(screen.getByRole("button", { name: "Decline" }));
    dismiss();
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([accepted({ reason: "old rows" })]),
    );
    expect((await reason()).matches(":disabled")).toBe(true);

    await host.event(
      {
        type: "askSettled",
        messageId: 1,
        outcome: answered,
        elicitationResponse: { action: "accept", content: { reason: "old rows" } },
      },
      0,
    );
    await user.click(await screen.findByText("You answered: old rows"));
    expect(screen.queryByRole("button", { name: "Submit" })).toBeNull();
    await screen.findByText("old rows");
    await host.caughtUp();
    expect(host.calls("askResponse")).toHaveLength(1);
    expect(await axeFindings(container)).toEqual([]);
  });

  test("says which answers the person marked as secret", async () => {
    const host = new FakeHost(waiting, [form()]);
    const { user } = showApp(host);
    await user.type(await reason(), "swordfish");
    await user.click(screen.getByText("Mark answers as secret"));
    await user.click(screen.getByRole("checkbox", { name: "Reason is a secret" }));
    await user.click(submit());
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([
        { ...accepted({ reason: "swordfish" }), secretFields: ["reason"] },
      ]),
    );
  });

  test.each([
    ["Decline", "noButtonClicked"],
    ["Dismiss without an answer", "cancelButtonClicked"],
  ] as const)("%s is shown as its own outcome", async (name, askResponse) => {
    const host = new FakeHost(waiting, [form()]);
    const { user } = showApp(host);
    const decline = await screen.findByRole("button", { name: "Decline" });
    if (name === "Decline") await user.click(decline);
    else dismiss();
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([{ taskId: "t1", askId: "a1", askResponse }]),
    );
  });

  test("that is refused stays as it was filled in, and can be answered again", async () => {
    let refuse = true;
    const host = new FakeHost(waiting, [form()], {
      askResponse: (): AskResponseResult => {
        if (!refuse) return { outcome: answered };
        throw new ResponseError(ErrorCode.InvalidAnswer, "The answer breaks the rules.", {
          problems: [{ name: "reason", message: "Not this word." }],
        });
      },
    });
    const { user } = showApp(host);
    await user.type(await reason(), "because{Enter}");
    await waitFor(async () => expect(isWrong(await reason())).toBe(true));
    expect(valueIn(await reason())).toBe("because");
    expect(descriptionOf(await reason())).toBe("Not this word.");
    const field = await reason();
    await waitFor(() => expect(document.activeElement).toBe(field));
    refuse = false;
    await user.type(await reason(), " of age{Enter}");
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([
        accepted({ reason: "because" }),
        accepted({ reason: "because of age" }),
      ]),
    );
  });

  test("that could not be answered says why and stays", async () => {
    const host = new FakeHost(waiting, [form()], {
      askResponse: () => {
        throw new ResponseError(ErrorCode.Unavailable, "The sidecar is not running.");
      },
    });
    const { user } = showApp(host);
    await user.type(await reason(), "x{Enter}");
    await screen.findByText("The sidecar is not running.");
    expect(valueIn(await reason())).toBe("x");
    expect(submit().getAttribute("aria-disabled")).toBe("false");
  });

  test("that another window answered first is read again", async () => {
    const host = new FakeHost(waiting, [form()], {
      askResponse: () => {
        host.messages = [
          message(1, ask("a1", elicitation(fields), { ...answered, by: "terminal" })),
        ];
        throw new ResponseError(ErrorCode.AskSettled, "It was answered in the terminal.", answered);
      },
    });
    const { user } = showApp(host);
    await user.type(await reason(), "x{Enter}");
    await user.click(await screen.findByText(/^You answered/));
    await screen.findByText(/^Answered in terminal at/);
    expect(host.calls("task/open").at(-1)).toEqual({ taskId: "t1", after: 0 });
  });

  test("that the server gave up keeps the typed text for copying", async () => {
    const host = new FakeHost(waiting, [form()]);
    const { user } = showApp(host);
    await user.type(await reason(), "a long thought");
    await host.event(
      { type: "askSettled", messageId: 1, outcome: { reason: "serverStoppedWaiting", at } },
      0,
    );
    await screen.findByText(/^The server stopped waiting/);
    screen.getByText("You typed this, but it was not sent:");
    screen.getByText("a long thought");
    await user.click(screen.getByRole("button", { name: "Copy" }));
    await screen.findByText("Copied.");
    expect(await navigator.clipboard.readText()).toBe("Reason: a long thought");
  });

  test("of a model that the server gave up keeps a completion that was written by hand", async () => {
    const host = new FakeHost(waiting, [request()]);
    const { user } = showApp(host);
    await screen.findByRole("button", { name: "Approve & Send" });
    const completion = await waitFor(() => {
      chooseWay("More Ways to Approve", "Answer as the Model…");
      return screen.getByRole("textbox", { name: "Completion" });
    });
    await user.type(completion, "LOW, I think");
    await host.event(
      { type: "askSettled", messageId: 1, outcome: { reason: "serverStoppedWaiting", at } },
      0,
    );
    await screen.findByText("You wrote this as the model, but it was not sent:");
    screen.getByText("LOW, I think");
  });

  test("that is open twice sends each answer to its own ask", async () => {
    const host = new FakeHost(task({ openAsks: 2 }), [form(1, "a1"), form(2, "a2")]);
    const { user } = showApp(host);
    await user.type(await reason(), "first");
    await user.click(screen.getByRole("button", { name: "Next Question" }));
    expect(valueIn(await reason())).toBe("");
    await user.type(await reason(), "second{Enter}");
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([accepted({ reason: "second" }, "a2")]),
    );
  });
});

describe("a draft", () => {
  test("is there when the view comes back, and gone when the ask is answered", async () => {
    const first = showApp(new FakeHost(waiting, [form()]));
    await first.user.type(await reason(), "half a thou");
    first.unmount();

    const host = new FakeHost(waiting, [form()]);
    const second = showApp(host, first.storage);
    await waitFor(async () => expect(valueIn(await reason())).toBe("half a thou"));
    await second.user.type(await reason(), "ght{Enter}");
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([accepted({ reason: "half a thought" })]),
    );
    await waitFor(() => expect(second.view.draft("a1")).toBeUndefined());
    expect(JSON.stringify(second.storage.saved)).not.toContain("thou");
  });

  test("is kept on disk, and taken from there by a view that knows nothing of it", async () => {
    const host = new FakeHost(waiting, [form()], { "ask/draft": () => ({}) });
    const { user } = showApp(host);
    await user.type(await reason(), "half");
    const draft = { taskId: "t1", askId: "a1", draft: { reason: "half" } };
    await waitFor(() => expect(host.calls("ask/draft").at(-1)).toEqual(draft));
    const kept = { ...ask("a1", elicitation(fields)), draft: { reason: "half" } };
    document.body.replaceChildren();
    showApp(new FakeHost(waiting, [message(1, kept)], {}));
    expect(valueIn(await reason())).toBe("half");
  });

  test("that is none is not taken", async () => {
    const kept = { ...ask("a1", elicitation(fields)), draft: { reason: { no: "text" } } };
    showApp(new FakeHost(waiting, [message(1, kept)], {}));
    expect(valueIn(await reason())).toBe("");
  });

  test("is gone when the ask was answered elsewhere", async () => {
    const host = new FakeHost(waiting, [form()]);
    const { user, view } = showApp(host);
    await user.type(await reason(), "x");
    expect(view.draft("a1")).toEqual({ reason: "x" });
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
    await screen.findByText(/^You answered/);
    expect(view.draft("a1")).toBeUndefined();
  });
});

describe("a request for a completion", () => {
  const approved = {
    type: "askSettled",
    messageId: 1,
    outcome: answered,
    model: otherModel,
  } as const;

  test("is approved, streams, and ends with its answer", async () => {
    const host = new FakeHost(waiting, [request()], {
      "model/list": () => ({ models: [demoModel, otherModel] }),
    });
    const { user, container } = showApp(host);
    await user.selectOptions(
      await screen.findByRole("combobox", { name: "Answered by" }),
      otherModel.name,
    );
    await user.click(screen.getByRole("button", { name: "Approve & Send" }));
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([
        { taskId: "t1", askId: "s1", askResponse: "yesButtonClicked", modelId: otherModel.id },
      ]),
    );
    await host.event(approved, 0);
    await screen.findByText("gpt at localhost was asked");
    const chunks = ["The risk ", "is ", "low."];
    for (const [sequence, chunk] of chunks.entries()) {
      await host.tell("mcpSamplingProgress", { taskId: "t1", messageId: 1, sequence, chunk });
    }
    await screen.findByText("The risk is low.");
    screen.getByText("gpt at localhost is answering");
    await host.event({
      type: "samplingEnded",
      messageId: 1,
      result: {
        type: "response",
        role: "assistant",
        content: [{ type: "text", text: "The risk is low. Really." }],
        model: "gpt-5",
        stopReason: "maxTokens",
      },
      usage: { inputTokens: 1200, outputTokens: 34, estimated: true, cost: 0.0123 },
    });
    await user.click(
      await screen.findByText("You let gpt-5 answer (34 tokens): The risk is low. Really."),
    );
    await screen.findByText("was cut off at the token limit");
    expect(screen.queryByText("The risk is low. Really.")).toBeNull(); // the line has it whole
    screen.getByText("1,200 tokens in · 34 tokens out · estimated · $0.0123");
    expect(await axeFindings(container)).toEqual([]);
  });

  test("is answered by one of the models that its own server may have", async () => {
    const listed = { database: [demoModel, otherModel], mail: [demoModel] };
    const mail = message(2, ask("s2", sampling({ serverName: "mail" })));
    const host = new FakeHost(waiting, [request(), mail], {
      "model/list": ({ serverName }) => ({
        models: serverName === "mail" ? listed.mail : listed.database,
      }),
    });
    showApp(host);
    await screen.findByRole("combobox", { name: "Answered by" });
    // The first are those of the conversation itself.
    expect(host.calls("model/list")).toEqual([
      { serverName: "" },
      { serverName: "database" },
      { serverName: "mail" },
    ]);
    fireEvent.click(screen.getByRole("button", { name: "Next Question" }));
    const other = await screen.findByRole("region", { name: "mail wants to ask a model" });
    expect(within(other).queryByRole("combobox")).toBeNull();
    await host.event({
      type: "messageAdded",
      message: message(3, ask("s3", sampling({ serverName: "mail" }))),
    });
    await waitFor(() =>
      expect(host.calls("model/list").slice(3)).toEqual([{ serverName: "mail" }]),
    );
    // The connection to the sidecar was lost for a moment, and the lists of models with it.
    await host.tell("host/sidecarStatus", { state: "running" });
    await waitFor(() => expect(host.calls("model/list")).toHaveLength(7));
    fireEvent.click(screen.getByRole("button", { name: "Previous Question" }));
    await screen.findByRole("combobox", { name: "Answered by" });
  });

  test("of another workspace is answered by one of the models there, and says which are away", async () => {
    const away = "VS Code's models can answer while a window of this workspace is open.";
    const host = new FakeHost({ ...waiting, workspace: "api" }, [request()], {
      "model/list": ({ taskId }) =>
        taskId === "t1" ? { models: [demoModel, otherModel], away } : { models: [] },
    });
    showApp(host);
    const card = await screen.findByRole("region", { name: "database wants to ask a model" });
    const choice = await within(card).findByRole("combobox", { name: "Answered by" });
    within(choice).getByRole("option", { name: otherModel.name });
    within(card).getByText(away);
    expect(host.calls("model/list")).toEqual([
      { serverName: "" },
      { serverName: "database", taskId: "t1" },
    ]);
  });

  test("that a grant approved says so, and the grant can be revoked there", async () => {
    const outcome: Outcome = {
      reason: "granted",
      at,
      detail: "Allowed by the grant made in VS Code.",
      grantId: "g1",
    };
    let fail = true;
    const host = new FakeHost(task(), [message(1, ask("s1", sampling(), outcome))], {
      "policy/list": () => ({ entries: [grantEntry()] }),
      "grant/revoke": () => {
        if (fail) throw new ResponseError(ErrorCode.Unavailable, "The sidecar is not running.");
        return grant({ endedAt: at + 1 });
      },
    });
    const { user, container } = showApp(host);
    const line = `Your grant let ${demoModel.name} answer`;
    await screen.findByRole("button", { name: "Change" });
    await user.click(screen.getByText(line));
    await screen.findByText("Allowed by the grant made in VS Code.");
    screen.getByText(/^You allowed: Up to 10 requests from database/);
    screen.getByText("Demo (not a language model) was asked");
    const revoke = await screen.findByRole("button", { name: /^Revoke/ });
    expect(await axeFindings(container)).toEqual([]);
    await user.click(revoke);
    await screen.findByText("The sidecar is not running.");
    fail = false;
    await user.click(revoke);
    await waitFor(() => expect(screen.queryByRole("button", { name: /^Revoke/ })).toBeNull());
    await waitFor(() => expect(document.activeElement?.id).toBe("ask-s1"));
    expect(host.calls("grant/revoke")).toEqual([{ grantId: "g1" }, { grantId: "g1" }]);
  });

  test("with a secret that its person wrote goes where they say so", async () => {
    const problem = { name: "secrets", message: "It looks like it has a GitHub token in it." };
    const host = new FakeHost(waiting, [request()], {
      askResponse: ({ confirmSecrets }): AskResponseResult => {
        if (confirmSecrets) return { outcome: answered };
        throw new ResponseError(ErrorCode.InvalidAnswer, problem.message, { problems: [problem] });
      },
    });
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Approve & Send" }));
    await screen.findByText(problem.message);
    await user.click(screen.getByRole("checkbox", { name: "Send anyway" }));
    await user.click(screen.getByRole("button", { name: "Approve & Send" }));
    await waitFor(() =>
      expect(host.calls("askResponse").at(-1)).toEqual({
        taskId: "t1",
        askId: "s1",
        askResponse: "yesButtonClicked",
        confirmSecrets: true,
      }),
    );
  });

  test.each([
    ["Stop and Keep Text", { taskId: "t1", askId: "s1", keep: true }],
    ["Stop and Return Nothing", { taskId: "t1", askId: "s1" }],
  ])("can be stopped while it streams: %s", async (name, params) => {
    const host = new FakeHost(waiting, [request()], {
      "sampling/stop": () => ({ stopped: true }),
    });
    const { user, container } = showApp(host);
    await screen.findByRole("button", { name: "Approve & Send" });
    await host.event(approved, 0);
    const keep = await screen.findByRole("button", { name: "Stop and Keep Text" });
    expect(keep.matches(":disabled")).toBe(true);
    await host.tell("mcpSamplingProgress", {
      taskId: "t1",
      messageId: 1,
      sequence: 0,
      chunk: "The risk",
    });
    await screen.findByText("The risk");
    expect(await axeFindings(container)).toEqual([]);
    const button = screen.getByRole("button", { name });
    // The text that comes during a press would move the button away.
    await user.pointer({ target: button, keys: "[MouseLeft>]" });
    await host.tell("mcpSamplingProgress", {
      taskId: "t1",
      messageId: 1,
      sequence: 1,
      chunk: " is low.",
    });
    screen.getByText("The risk");
    await user.pointer({ target: button, keys: "[/MouseLeft]" });
    await screen.findByText("The risk is low.");
    await user.click(button);
    await waitFor(() => expect(host.calls("sampling/stop")).toEqual([params]));
    await host.event({
      type: "samplingEnded",
      messageId: 1,
      result: { type: "withheld", reason: "The model was stopped in VS Code." },
    });
    await screen.findByText(
      "Assent told the server that you declined. The model was stopped in VS Code.",
    );
  });

  test("that cannot be stopped says why, and goes on", async () => {
    const host = new FakeHost(waiting, [request()], {
      "sampling/stop": () => {
        throw new ResponseError(ErrorCode.Unavailable, "The sidecar is not running.");
      },
    });
    const { user } = showApp(host);
    await screen.findByRole("button", { name: "Approve & Send" });
    await host.event(approved, 0);
    await user.click(await screen.findByRole("button", { name: "Stop and Return Nothing" }));
    await screen.findByText("The sidecar is not running.");
    await user.click(screen.getByRole("button", { name: "Stop and Return Nothing" }));
    await waitFor(() => expect(host.calls("sampling/stop")).toHaveLength(2));
  });

  test("is reviewed, asked for again, edited and returned", async () => {
    const host = new FakeHost(waiting, [request()], {
      "model/list": () => ({ models: [demoModel, otherModel] }),
    });
    const { user, container } = showApp(host);
    await screen.findByRole("button", { name: "Approve & Send" });
    await host.event({ ...approved, model: demoModel }, 0);
    await host.tell("mcpSamplingProgress", {
      taskId: "t1",
      messageId: 1,
      sequence: 0,
      chunk: "Hm.",
    });
    await host.event({ type: "samplingMoved", messageId: 1, model: demoModel, inReview: true }, 0);
    await host.event({ type: "messageAdded", message: message(2, ask("r1", samplingReview())) }, 1);
    await screen.findByText(`You let ${demoModel.name} answer`);
    screen.getByRole("button", { name: "Review the answer for database" });
    await user.selectOptions(
      await screen.findByRole("combobox", { name: "Another answer by" }),
      otherModel.name,
    );
    await user.click(screen.getByRole("button", { name: "Ask Again" }));
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([
        {
          taskId: "t1",
          askId: "r1",
          askResponse: "regenerateButtonClicked",
          modelId: otherModel.id,
        },
      ]),
    );
    const again = { reason: "regenerated", by: "VS Code", at } as const;
    await host.event({ type: "askSettled", messageId: 2, outcome: again, model: otherModel }, 0);
    await host.event({
      type: "samplingMoved",
      messageId: 1,
      model: otherModel,
      progress: { text: "", sequence: 1 },
    });
    await user.click(
      await screen.findByText("You asked for another answer than: The risk is low."),
    );
    await screen.findByText("Another answer was requested from gpt at localhost.");
    await screen.findByText("gpt at localhost was asked");
    await host.tell("mcpSamplingProgress", {
      taskId: "t1",
      messageId: 1,
      sequence: 1,
      chunk: "Low, I think.",
    });
    await screen.findByText("Low, I think.");

    await host.event({ type: "samplingMoved", messageId: 1, model: otherModel, inReview: true }, 0);
    const second = samplingReview({ model: otherModel });
    await host.event({ type: "messageAdded", message: message(3, ask("r2", second)) }, 1);
    await user.click(await screen.findByRole("button", { name: "Edit" }));
    const box = await screen.findByRole("textbox", { name: "Answer to the server" });
    await user.clear(box);
    await user.type(box, "The risk is high.");
    await user.click(screen.getByRole("button", { name: "Return to Server" }));
    await waitFor(() =>
      expect(host.calls("askResponse").at(-1)).toEqual({
        taskId: "t1",
        askId: "r2",
        askResponse: "yesButtonClicked",
        samplingContent: [{ type: "text", text: "The risk is high." }],
      }),
    );
    const sentResponse = {
      ...second.samplingResponse,
      content: [{ type: "text", text: "The risk is high." }],
    } as const;
    await host.event({ type: "askSettled", messageId: 3, outcome: answered, sentResponse }, 0);
    await host.event({ type: "samplingEnded", messageId: 1, result: sentResponse });
    await user.click(await screen.findByText("You returned (edited): The risk is high."));
    expect((await screen.findByText("high")).tagName).toBe("INS");
    expect(await axeFindings(container)).toEqual([]);
  });

  test("that fails says why", async () => {
    const host = new FakeHost(waiting, [request()]);
    showApp(host);
    await screen.findByRole("button", { name: "Approve & Send" });
    await host.event(approved, 0);
    await host.event({
      type: "samplingEnded",
      messageId: 1,
      result: { type: "failure", reason: "The endpoint answered 401. Check the key." },
    });
    await screen.findByText("The endpoint answered 401. Check the key.");
  });

  test("is denied", async () => {
    const host = new FakeHost(waiting, [request()]);
    const { user } = showApp(host);
    await user.click(await screen.findByRole("button", { name: "Decline" }));
    await waitFor(() =>
      expect(host.calls("askResponse")).toEqual([
        { taskId: "t1", askId: "s1", askResponse: "noButtonClicked" },
      ]),
    );
  });
});

describe("the focus", () => {
  const added = (id: number, askId: string) =>
    ({ type: "messageAdded", message: form(id, askId) }) as const;
  const cards = () => screen.findAllByRole("region", { name: "database asks" });

  test("goes to a new ask when it is nowhere", async () => {
    const host = new FakeHost(task());
    showApp(host);
    await screen.findByRole("region", { name: "First steps" });
    await host.event(added(1, "a1"), 1);
    const [card] = await cards();
    await waitFor(() => expect(document.activeElement).toBe(card));
  });

  test("does not take the focus from typing, and the ask is announced", async () => {
    const host = new FakeHost(waiting, [form()]);
    const { user } = showApp(host);
    await user.type(await reason(), "I am typ");
    await host.event(added(2, "a2"), 2);
    await screen.findByText("1 of 2");
    expect(document.activeElement).toBe(await reason());
    expect(valueIn(await reason())).toBe("I am typ");
    const heard = screen.getAllByRole("status").map((region) => region.textContent);
    expect(heard).toContain("Delete 1,204 rows? database asks.");
  });

  test("is not drawn into a page that has none", async () => {
    vi.mocked(document.hasFocus).mockReturnValue(false);
    const host = new FakeHost(task());
    showApp(host);
    await screen.findByRole("region", { name: "First steps" });
    await host.event(added(1, "a1"), 1);
    await cards();
    expect(document.activeElement).toBe(document.body);
  });

  test("goes on from an answered ask to the next, and at last to where the person writes", async () => {
    const host = new FakeHost(task({ openAsks: 2 }), [form(), form(2, "a2")]);
    const { user } = showApp(host);
    await user.type(await reason(), "x{Enter}");
    await waitFor(() => expect(host.calls("askResponse")).toHaveLength(1));
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 1);
    await screen.findByText(/^You answered/);
    const [next] = await cards();
    await waitFor(() => expect(document.activeElement).toBe(next));
    await user.type(await reason(), "y{Enter}");
    await waitFor(() => expect(host.calls("askResponse")).toHaveLength(2));
    await host.event({ type: "askSettled", messageId: 2, outcome: answered }, 0);
    const message = await screen.findByRole("textbox", { name: "Message" });
    await waitFor(() => expect(document.activeElement).toBe(message));
    // The person has typed nothing there yet.
    await host.event(added(3, "a3"), 1);
    const [third] = await cards();
    await waitFor(() => expect(document.activeElement).toBe(third));
  });

  test.each([
    ["takes", "", true],
    ["leaves with somebody who writes on", "a", false],
  ])("after a message was sent, the first question %s", async (_, more, takes) => {
    const host = new FakeHost(task(), [], { "chat/send": () => ({ messageId: 1 }) });
    const { user } = showApp(host);
    const composer = await screen.findByRole("textbox", { name: "Message" });
    await user.type(composer, "Clean up{Enter}");
    await waitFor(() => expect(valueIn(composer)).toBe(""));
    expect(document.activeElement).toBe(composer);
    if (more !== "") await user.keyboard(more);
    await host.event(added(2, "a2"), 1);
    const [card] = await cards();
    await waitFor(() => expect(document.activeElement).toBe(takes ? card : composer));
  });

  test("is not taken from who has begun to write after the last answer", async () => {
    const host = new FakeHost(waiting, [form()]);
    const { user } = showApp(host);
    await user.type(await reason(), "x{Enter}");
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
    const message = await screen.findByRole("textbox", { name: "Message" });
    await waitFor(() => expect(document.activeElement).toBe(message));
    await user.keyboard("a");
    await host.event(added(2, "a2"), 1);
    await cards();
    expect(document.activeElement).toBe(message);
    expect(valueIn(message)).toBe("a");
  });
});

describe("what waits", () => {
  test("in another task is brought here when the host asks for it", async () => {
    const other = task({ id: "t2", title: "Second", openAsks: 1 });
    const host = new FakeHost(task(), [], {
      "task/list": () => ({ tasks: [task(), other] }),
      "task/open": ({ taskId }) =>
        taskId === "t2" ? { task: other, messages: [form()] } : { task: task() },
    });
    const storage = {
      saved: { openTaskId: "t1" } as unknown,
      load() {
        return this.saved;
      },
      save() {},
    };
    showApp(host, storage);
    await screen.findByRole("button", { name: "Open Questions (1 waiting)" });
    await host.tell("host/reveal", { kind: "ask" });
    const card = await screen.findByRole("region", { name: "database asks" });
    await waitFor(() => expect(document.activeElement).toBe(card));
    screen.getByRole("button", { name: "Second" });
  });
});
