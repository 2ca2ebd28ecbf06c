import type {
  Body,
  CallResult,
  ContentBlock,
  Outcome,
  Progress,
  SamplingResult,
} from "@assent/protocol";
import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import type { Actions } from "../../store/session.ts";
import { axeFindings } from "../../testing/axe.ts";
import { entryOf } from "../../testing/entries.ts";
import {
  answered,
  ask,
  at,
  call,
  callTool,
  elicitation,
  mcpTask,
  message,
  otherModel,
  sampling,
  samplingReview,
} from "../../testing/samples.ts";
import { DockedAsk } from "../dock/DockedAsk.tsx";
import { ChatRow } from "./ChatRow.tsx";

const cancelCall = vi.fn<Actions["cancelCall"]>();
// A row calls nothing else without its person.
const reveal = vi.fn<Actions["reveal"]>();
const startCall = vi.fn<Actions["startCall"]>();
const actions = { cancelCall, reveal, startCall } as Partial<Actions> as Actions;

// An opened part of a row stays open, so each row here has a message of its own.
let lastId = 1000;

function show(body: Body, id = ++lastId) {
  if (body.type === "ask" && body.outcome === undefined) {
    const docked = { taskId: "t1", message: message(id, body), ask: body, models: new Map() };
    return render(
      <DockedAsk
        {...{ ...docked, actions }}
        offered={undefined}
        joined={undefined}
        shown
        turn={1}
      />,
    );
  }
  return render(
    <ChatRow
      taskId="t1"
      entry={entryOf({ ...message(id, body), time: at + 1 })}
      actions={actions}
    />,
  );
}

const result = (part: Partial<Extract<CallResult, { type: "result" }>>): CallResult => ({
  type: "result",
  ...part,
});

const ended = (ending: CallResult) => call({ endedAt: at + 1501, result: ending });

describe("a call", () => {
  test("that runs counts its seconds and can be cancelled", async () => {
    vi.useFakeTimers({ now: at + 1, toFake: ["setInterval", "clearInterval", "Date"] });
    show(call({ request: callTool({ older: "2024" }) }), 1);
    screen.getByRole("article", { name: "cleanup of database" });
    screen.getByText("running 0 s");
    act(() => vi.advanceTimersByTime(75_000));
    screen.getByText("running 1 min 15 s");
    await userEvent.setup().click(screen.getByRole("button", { name: "Cancel" }));
    expect(cancelCall).toHaveBeenCalledExactlyOnceWith("t1", 1);
  });

  test("shows its arguments on demand, and says nothing of none", async () => {
    show(call({ request: callTool({ older: "2024" }) }));
    expect(screen.queryByText(/"older": "2024"/)).toBeNull();
    await userEvent.setup().click(screen.getByText("Arguments"));
    await screen.findByText(/"older": "2024"/);
  });

  test("without arguments has no such line", () => {
    show(call());
    expect(screen.queryByText("Arguments")).toBeNull();
  });

  test("of a resource or a prompt names the requested item", async () => {
    const { unmount } = show(call({ request: { type: "resources/read", uri: "db://rows/7" } }));
    screen.getByRole("article", { name: "db://rows/7 resource of database" });
    expect(screen.queryByText("Arguments")).toBeNull();
    unmount();
    const args = { table: "rows" };
    // Another message, because an opened part of a message stays open.
    show(call({ request: { type: "prompts/get", promptName: "review", arguments: args } }), 2);
    screen.getByRole("article", { name: "review prompt of database" });
    await userEvent.setup().click(screen.getByText("Arguments"));
    await screen.findByText(/"table": "rows"/);
  });

  test.each<readonly [string, Omit<Progress, "at">, string, number | null, readonly string[]]>([
    [
      "as far as the server says",
      { progress: 3, total: 12, message: "Reading" },
      "3 of 12",
      3,
      ["Reading"],
    ],
    ["no further than to the end", { progress: 15, total: 12 }, "15 of 12", 12, []],
    ["without a total", { progress: 7 }, "7 so far", null, []],
    [
      "with a long message cut off",
      { progress: 0, message: "x".repeat(1000) },
      "0 so far",
      null,
      [`${"x".repeat(300)}…`],
    ],
  ])("that runs shows how far it is: %s", async (_name, progress, words, value, texts) => {
    const { container } = show(call({ progress: { ...progress, at } }));
    const bar = screen.getByRole<HTMLProgressElement>("progressbar", {
      name: "cleanup of database",
    });
    expect(bar.getAttribute("aria-valuetext")).toBe(words);
    expect(bar.hasAttribute("value") ? bar.value : null).toBe(value);
    for (const text of [words, ...texts]) screen.getByText(text);
    expect(await axeFindings(container)).toEqual([]);
  });

  test("that is an MCP task says once what its server says twice", () => {
    const message = "Reading";
    const progress = { progress: 3, total: 12, message, at };
    show(call({ progress, task: mcpTask({ statusMessage: message }) }));
    screen.getByText("3 of 12");
    expect(screen.getAllByText(message)).toHaveLength(1);
  });

  test("that ended shows no progress", () => {
    show(call({ progress: { progress: 1, at }, endedAt: at, result: { type: "cancelled" } }));
    expect(screen.queryByRole("progressbar")).toBeNull();
  });

  test.each<readonly [string, CallResult, string, readonly (string | RegExp)[]]>([
    ["done", result({ content: [{ type: "text", text: "7 rows" }] }), "done 1.5 s", ["7 rows"]],
    ["that returned nothing", result({}), "done 1.5 s", ["It returned nothing."]],
    [
      "whose result was removed",
      result({ removedAfter: 30 }),
      "done 1.5 s",
      ["The result was removed after 30 days, as set by assent.retention.days."],
    ],
    [
      "with a structured result alone",
      result({ structuredContent: { rows: 7 } }),
      "done 1.5 s",
      ["rows", "7"],
    ],
    [
      "whose text only repeats its structured result",
      result({
        content: [
          { type: "text", text: "See:" },
          { type: "text", text: '{"rows": 7}' },
        ],
        structuredContent: { rows: 7 },
        repeats: [1],
      }),
      "done 1.5 s",
      ["See:", "Structured result"],
    ],
    [
      "whose tool failed",
      result({ isError: true, content: [{ type: "text", text: "no table" }] }),
      "failed 1.5 s",
      ["The tool reported an error:", "no table"],
    ],
    [
      "that the server refused",
      { type: "error", code: -32602, message: "Unknown tool", data: { known: [] } },
      "refused 1.5 s",
      ["The server answered with error -32602: Unknown tool", "Error data"],
    ],
    [
      "of a prompt that was filled in",
      {
        type: "prompt",
        description: "Reviews a table",
        messages: [
          { role: "user", content: { type: "text", text: "<b>Review</b> rows" } },
          { role: "assistant", content: { type: "text", text: "**Gladly**" } },
        ],
      },
      "done 1.5 s",
      ["Reviews a table", "User", "<b>Review</b> rows", "Assistant", "**Gladly**"],
    ],
    ["of an empty prompt", { type: "prompt" }, "done 1.5 s", ["It has no messages."]],
    [
      "that Assent did not go on with",
      { type: "abandoned", reason: "The form was declined." },
      "abandoned 1.5 s",
      ["The form was declined."],
    ],
    ["cancelled", { type: "cancelled" }, "cancelled 1.5 s", ["Cancelled before it ended."]],
    ["lost", { type: "lost", reason: "The server died." }, "lost 1.5 s", ["The server died."]],
  ])("%s", async (_name, ending, state, texts) => {
    const { container } = show(ended(ending));
    screen.getByText(state);
    for (const text of texts) await screen.findByText(text);
    expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });
});

test("a call has the title of its tool, and the name as a tooltip", () => {
  show(call({ request: { ...callTool(), title: "Clean Up" } }));
  screen.getByRole("article", { name: "Clean Up of database" });
  expect(screen.getByTitle("cleanup").textContent).toBe("Clean Up");
});

test("a call says how much of its time the person took", () => {
  const started = { ...message(1, call({ endedAt: at + 17_000, result: result({}) })), time: at };
  const question = ask("a1", elicitation([], { messageId: 1 }), {
    reason: "answered",
    at: at + 16_000,
  });
  const asked = { ...message(2, question), time: at + 2000 };
  render(<ChatRow taskId="t1" entry={entryOf(started, asked)} actions={actions} />);
  screen.getByText("done 17 s, 14 s of it yours");
});

describe("content", () => {
  const showContent = (...content: readonly ContentBlock[]) => show(ended(result({ content })));

  test("text is shown letter by letter", () => {
    showContent({ type: "text", text: "**not** bold\n  indented" });
    expect(screen.getByText(/not/).textContent).toBe("**not** bold\n  indented");
  });

  const png = btoa("\x89PNG\r\n\x1a\n and so on");

  test.each([
    ["image/png", "\x89PNG\r\n\x1a\n..."],
    ["image/jpeg", "\xff\xd8\xff\xe0..."],
    ["image/gif", "GIF89a..."],
    ["image/webp", "RIFF\0\0\0\0WEBPVP8 "],
  ])("a picture of type %s is drawn from its own bytes", (mimeType, bytes) => {
    const data = btoa(bytes);
    showContent({ type: "image", data, mimeType });
    const picture = screen.getByRole("img", {
      name: `From the server, ${mimeType}, ${bytes.length} B`,
    });
    expect(picture.getAttribute("src")).toBe(`data:${mimeType};base64,${data}`);
  });

  test.each([
    ["has parameters and capitals", "Image/PNG; q=1", png],
    ["says another of the types that are drawn", "image/jpeg", png],
    ["has a type that does not exist", "image/jpg", png],
    ["has the type of a page", "text/html,<script>", png],
    ["has no type", "", png],
    ["has line breaks in its base64", "image/png", `\n${png.slice(0, 3)}\r\n${png.slice(3)}`],
  ])("an image that %s is drawn", (_name, mimeType, data) => {
    showContent({ type: "image", data, mimeType });
    const picture = screen.getByRole("img", { name: /^From the server, image\/png/ });
    expect(picture.getAttribute("src")).toBe(`data:image/png;base64,${data}`);
  });

  test.each([
    ["image/bmp", btoa("BM...")],
    ["image/avif", btoa("\0\0\0 ftypavif")],
    ["image/png", btoa("<svg/>")],
    ["image/png", "no base64"],
    ["image/png", btoa("<html>Not found</html>")],
  ])("what says that it is a picture of type %s and is none is not drawn", (mimeType, data) => {
    showContent({ type: "image", data, mimeType });
    expect(screen.queryByRole("img")).toBeNull();
    screen.getByText((text) => text.startsWith(`Cannot show this image: ${mimeType}, `));
  });

  // Each level draws the one below it ten times: a browser would draw a circle 10 to the 20th times.
  const levels = Array.from(
    { length: 20 },
    (_, n) => `<g id="l${n + 1}">${`<use href="#l${n}"/>`.repeat(10)}</g>`,
  );
  const bomb = `<svg xmlns="http://www.w3.org/2000/svg"><circle id="l0" r="1"/>${levels.join("")}</svg>`;

  test.each<readonly [string, ContentBlock]>([
    ["image", { type: "image", data: btoa(bomb), mimeType: "image/svg+xml" }],
    [
      "image with parameters",
      { type: "image", data: btoa(bomb), mimeType: " IMAGE/SVG+XML ;charset=utf-8" },
    ],
    [
      "resource",
      { type: "resource", resource: { uri: "a:b", blob: btoa(bomb), mimeType: "Image/svg+xml" } },
    ],
    [
      "result of a tool in a request",
      {
        type: "tool_result",
        toolUseId: "1",
        content: [{ type: "image", data: btoa(bomb), mimeType: "image/svg+xml" }],
      },
    ],
  ])("an SVG file is a file, and a text when the person asks for it: %s", async (name, block) => {
    // Each as another message, because an opened part of a message stays open.
    const { container } = show(ended(result({ content: [block] })), 100 + name.length);
    expect(container.querySelector("img, svg, image, object, embed, iframe")).toBeNull();
    screen.getByText(/^An SVG file, \d.* kB\. Assent does not draw it\.$/);
    await userEvent.setup().click(screen.getByText("Show as Text"));
    expect((await screen.findByText(/<circle/)).textContent).toBe(bomb);
    expect(container.querySelector("img, svg, image, object, embed, iframe")).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });

  const svg: ContentBlock = { type: "image", data: btoa(bomb), mimeType: "image/svg+xml" };
  const samplingMessage = { role: "user", content: [svg] } as const;

  test.each<readonly [string, Body]>([
    [
      "a request",
      ask("s1", sampling({ samplingRequest: { messages: [samplingMessage], maxTokens: 9 } })),
    ],
    [
      "a model's answer",
      ask(
        "s2",
        samplingReview({
          samplingResponse: { type: "response", role: "assistant", content: [svg], model: "m" },
        }),
      ),
    ],
    ["a prompt", ended({ type: "prompt", messages: [{ role: "user", content: svg }] })],
    ["an attachment", { type: "attachment", name: "a.svg", content: svg }],
  ])("an SVG file is not drawn in %s", (name, body) => {
    const { container } = show(body, 200 + name.length);
    expect(container.querySelector("img, svg, image, object, embed, iframe")).toBeNull();
    screen.getByText(/^An SVG file, /);
  });

  test("a sound can be played", () => {
    showContent({ type: "audio", data: "AAAA", mimeType: "audio/wav" });
    expect(screen.getByLabelText(/^Audio from the server/).tagName).toBe("AUDIO");
  });

  test("a sound in a resource can be played, and an endless one is not", () => {
    showContent(
      { type: "resource", resource: { uri: "a:b", blob: "AAAA", mimeType: "audio/ogg; codecs=x" } },
      { type: "audio", data: "A".repeat(16_000_001), mimeType: "audio/wav" },
    );
    screen.getByLabelText("Audio from the server, audio/ogg, 3 B");
    screen.getByText("This audio is too long to play here: audio/wav, 11.4 MB.");
  });

  const link: ContentBlock = {
    type: "resource_link",
    uri: "file:///etc/passwd",
    name: "passwd",
    title: "Users",
    mimeType: "text/plain",
  };

  test("a link to a resource is read from its server, in the task", async () => {
    const user = userEvent.setup();
    startCall.mockRejectedValueOnce(new Error("The task is closed.")).mockResolvedValueOnce();
    show(ended(result({ content: [link] })));
    for (const text of ["Users", "file:///etc/passwd", "text/plain"]) screen.getByText(text);
    expect(screen.queryByRole("link")).toBeNull();
    expect(startCall).not.toHaveBeenCalled();
    const read = screen.getByRole("button", { name: "Read the resource Users" });
    await user.click(read);
    expect(startCall).toHaveBeenCalledExactlyOnceWith({
      serverName: "database",
      request: { type: "resources/read", uri: "file:///etc/passwd" },
    });
    await screen.findByText("The task is closed.");
    await user.click(read);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("a link leads nowhere in a closed task", () => {
    const entry = entryOf(message(++lastId, ended(result({ content: [link] }))));
    render(<ChatRow taskId="t1" entry={entry} actions={actions} closed />);
    screen.getByText("Users");
    expect(screen.queryByRole("button", { name: /Users/ })).toBeNull();
  });

  test("a resource's own text, picture or bytes are shown", () => {
    showContent(
      { type: "resource", resource: { uri: "db://1", text: "seven" } },
      {
        type: "resource",
        resource: { uri: "db://2", blob: btoa("GIF89a"), mimeType: "image/gif" },
      },
      { type: "resource", resource: { uri: "db://3", blob: "AAAA" } },
    );
    for (const text of ["db://1", "seven", "db://2", "db://3"]) screen.getByText(text);
    screen.getByRole("img", { name: "From the server, image/gif, 6 B" });
    screen.getByText("Cannot show this file: unknown type, 3 B.");
  });

  test("a call of a model and its result are shown in full", () => {
    const { container } = showContent(
      { type: "tool_use", id: "1", name: "get_weather", input: { city: "Paris" } },
      {
        type: "tool_result",
        toolUseId: "1",
        content: [{ type: "text", text: "18 °C" }],
        structuredContent: { degrees: 18 },
      },
      { type: "tool_result", toolUseId: "2", isError: true },
    );
    const blocks = [...container.querySelectorAll(".tool-block")].map((block) => block.textContent);
    expect(blocks).toEqual([
      'Calls the tool get_weather with{\n  "city": "Paris"\n}',
      'Tool call 1 returned18 °C{\n  "degrees": 18\n}',
      "Tool call 2 failedNo content.",
    ]);
  });

  test("what Assent does not know is shown as it came", () => {
    showContent({ type: "unknown", raw: { type: "hologram", depth: 3 } });
    screen.getByText(/"hologram"/);
  });
});

describe("what a standing decision settled", () => {
  const tool = (outcome: Partial<Outcome>): Body => ({
    type: "ask",
    askId: "a1",
    ask: "use_mcp_server",
    question: {
      type: "use_mcp_tool",
      serverName: "database",
      toolUse: { messageId: 1, toolUseId: "u" },
      tool: { name: "cleanup" },
      arguments: {},
    },
    outcome: { ...answered, ...outcome },
  });

  test.each<[Partial<Outcome>, string]>([
    [{ reason: "denied", standing: "never" }, "Declined because you never allow it: cleanup"],
    [{ reason: "granted", standing: "always" }, "Allowed because you always allow it: cleanup"],
    [{ reason: "granted", standing: "task" }, "Allowed because you allow it in this task: cleanup"],
  ])("says which one, and leads to the place to change it: %o", async (outcome, words) => {
    show(tool(outcome));
    screen.getByText(words);
    await userEvent.setup().click(screen.getByRole("button", { name: "Change" }));
    expect(reveal).toHaveBeenLastCalledWith({ kind: "policy" });
  });
});

describe("a notice", () => {
  test.each(["info", "warning", "error"] as const)("of level %s", async (level) => {
    const { container } = show({ type: "notice", level, text: "The server wrote to stdout." });
    screen.getByText("The server wrote to stdout.");
    expect(await axeFindings(container)).toEqual([]);
  });
});

describe("a settled form", () => {
  const reasons: readonly (readonly [Outcome["reason"], string])[] = [
    ["answered", "You answered: Delete 1,204 rows?"],
    ["declined", "You declined: Delete 1,204 rows?"],
    ["dismissed", "You dismissed it without an answer: Delete 1,204 rows?"],
    ["serverStoppedWaiting", "The server stopped waiting: Delete 1,204 rows?"],
    ["callEnded", "The call ended first: Delete 1,204 rows?"],
    ["serverLost", "The connection to the server was lost: Delete 1,204 rows?"],
    ["restarted", "Assent stopped while this was open: Delete 1,204 rows?"],
  ];

  test.each(reasons)("%s", async (reason, words) => {
    const { container } = show(
      ask("a1", elicitation(), { reason, at, detail: "The tool had ended." }),
    );
    expect(screen.queryByText("The tool had ended.")).toBeNull();
    await userEvent.setup().click(screen.getByText(words));
    await screen.findByText("The tool had ended.");
    screen.getByText(/during the tool call cleanup$/);
    expect(screen.queryByRole("button")).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("with an answer that is only in memory", async () => {
    const unsaved = { ...message(1, ask("a1", elicitation(), answered)), unsaved: true };
    const { container } = render(
      <ChatRow taskId="t1" entry={entryOf(unsaved)} actions={actions} />,
    );
    screen.getByText(/^You answered/);
    screen.getByText("Not saved");
    expect(await axeFindings(container)).toEqual([]);
  });

  test("with an answer that the server did not get", async () => {
    const undelivered = "The server stopped waiting before the answer reached it.";
    const { container } = show(ask("a1", elicitation(), { ...answered, undelivered }));
    screen.getByText(/^You answered/);
    screen.getByText(undelivered);
    expect(container.querySelector("summary .codicon-warning")).not.toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("shows who answered and the sent answer, but no secret", async () => {
    show(
      ask(
        "a1",
        elicitation(
          [
            { type: "choice", name: "f", title: "Format", options: [{ value: "m", title: "MD" }] },
            { type: "boolean", name: "b", title: "Stamps" },
            { type: "number", name: "n" },
            { type: "string", name: "password", title: "Password", secret: true },
          ],
          {
            elicitationResponse: {
              action: "accept",
              content: { f: "m", b: false, n: 0, password: "hunter2", odd: [1] },
            },
          },
        ),
        answered,
      ),
    );
    await userEvent
      .setup()
      .click(screen.getByText("You answered: MD, Stamps: No, n: 0, Password: •••, odd: [ 1 ]"));
    await screen.findByText("Format");
    screen.getByText(/^Answered in VS Code at/);
    const rows = [...document.querySelectorAll("dl > div")].map((row) =>
      [...row.children].map((cell) => cell.textContent),
    );
    expect(rows).toEqual([
      ["Format", "MD"],
      ["Stamps", "No"],
      ["n", "0"],
      ["Password", "•••"],
      ["odd", "[\n  1\n]"],
    ]);
  });
});

test("a question that the person placed says so", async () => {
  const placed = elicitation(undefined, { placedBy: "VS Code" });
  show(ask("a1", placed, answered));
  await userEvent.setup().click(screen.getByText(/^You answered/));
  await screen.findByText("You placed this question here, in VS Code.");
});

describe("an approved completion", () => {
  const showAnswer = (part: Parameters<typeof sampling>[0]) =>
    show(ask("a1", sampling(part), answered));

  test("waits for its model", () => {
    showAnswer({ model: otherModel });
    screen.getByText("gpt at localhost was asked");
  });

  test("shows the text so far", () => {
    showAnswer({ progress: { text: "The **risk** is", sequence: 3 } });
    screen.getByText("Demo (not a language model) is answering");
    expect(screen.getByText("risk").tagName).toBe("STRONG");
  });

  const response = (stopReason?: string): SamplingResult => ({
    type: "response",
    role: "assistant",
    content: [{ type: "text", text: "It is *low*." }],
    model: "gpt-5-2026",
    ...(stopReason === undefined ? {} : { stopReason }),
  });

  test.each([
    [undefined, ""],
    ["endTurn", ""],
    ["maxTokens", "was cut off at the token limit"],
    ["stopSequence", "stopped at a stop sequence"],
    ["contentFilter", "stopped: contentFilter"],
  ])("shows the whole answer and why it stopped (%s)", async (stopReason, words) => {
    const { container } = showAnswer({ model: otherModel, result: response(stopReason) });
    await userEvent.setup().click(screen.getByText("You let gpt-5-2026 answer: It is low."));
    expect((await screen.findByText("low")).tagName).toBe("EM");
    expect(screen.getByText("gpt-5-2026").parentElement?.textContent).toBe(`gpt-5-2026${words}`);
    expect(await axeFindings(container)).toEqual([]);
  });

  test.each([
    ["It is low.", false],
    ["It is **low**.", true],
    ["It is low.\nIt was high.", true],
    ["It is low. ".repeat(40).trim(), true],
  ])("of a review is told whole once: %j", async (text, again) => {
    const samplingResponse = {
      ...samplingReview().samplingResponse,
      content: [{ type: "text" as const, text }],
    };
    const { container } = show(ask("a1", samplingReview({ samplingResponse }), answered));
    await userEvent.setup().click(screen.getByText(/^You returned: It is/));
    await screen.findByText("Demo (not a language model)");
    expect(container.querySelector(".answer .turn-role + *") !== null).toBe(again);
  });

  test("by the demo model never looks like one by a real model", () => {
    showAnswer({ result: response() });
    screen.getByText(/^You let Demo \(not a language model\) answer/);
    expect(screen.queryByText(/gpt-5-2026/)).toBeNull();
  });

  test("that failed says why", () => {
    showAnswer({ result: { type: "failure", reason: "The endpoint answered 401." } });
    screen.getByText("The endpoint answered 401.");
  });

  test("that was declined shows no answer", () => {
    show(ask("a1", sampling(), { reason: "declined", at }));
    screen.getByText("You declined to ask a model: How risky is it?");
    expect(screen.queryByText(/was asked/)).toBeNull();
  });
});
