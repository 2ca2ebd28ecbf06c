import type { McpSamplingRequest, Model } from "@assent/protocol";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { descriptionOf, isWrong } from "../../testing/dom.ts";
import { chooseWay, dismiss } from "../../testing/menu.ts";
import { demoModel, otherModel, sampling, toolRequest } from "../../testing/samples.ts";
import { McpSamplingApproval, type McpSamplingApprovalProps } from "./McpSamplingApproval.tsx";

// The half second before an ask can be answered has a test of its own.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

type Data = Omit<McpSamplingApprovalProps, "onDraft" | "onApprove" | "onDecline" | "onCancel">;

function show(part: Partial<Data> = {}) {
  const ways = {
    onDraft: vi.fn<McpSamplingApprovalProps["onDraft"]>(),
    onApprove: vi.fn<McpSamplingApprovalProps["onApprove"]>(),
    onDecline: vi.fn<McpSamplingApprovalProps["onDecline"]>(),
    onCancel: vi.fn<McpSamplingApprovalProps["onCancel"]>(),
  };
  const card = (part: Partial<Data>) => (
    <McpSamplingApproval
      askId="a1"
      serverName="database"
      toolNames={["classify"]}
      request={sampling().samplingRequest}
      model={demoModel}
      models={[demoModel]}
      draft={undefined}
      busy={false}
      refusal={undefined}
      keep="t1:1"
      {...part}
      {...ways}
    />
  );
  const drawn = render(card(part));
  const rerenderWith = (next: Partial<Data>) => drawn.rerender(card(next));
  return { ...ways, ...drawn, rerenderWith, user: userEvent.setup() };
}

const approve = () => screen.getByRole("button", { name: "Approve & Send" });

const png = "iVBORw0KGgo=";

const everything: McpSamplingRequest = {
  systemPrompt: "You are *terse*.",
  messages: [
    { role: "user", content: [{ type: "text", text: "Look at this:" }] },
    { role: "user", content: [{ type: "image", data: png, mimeType: "image/png" }] },
    { role: "assistant", content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] },
    { role: "user", content: [{ type: "unknown", raw: { type: "tool_use", name: "x" } }] },
  ],
  maxTokens: 1500,
  temperature: 0,
  stopSequences: ["\n\n", "END"],
  includeContext: "thisServer",
  modelPreferences: {
    hints: [{ name: "claude" }, { name: "gpt" }],
    costPriority: 0,
    speedPriority: 0.5,
    intelligencePriority: 1,
  },
  metadata: { trace: "abc" },
};

/** Opens a part of the request. An earlier test may have left it open. */
async function unfold(user: UserEvent, line: string | RegExp): Promise<void> {
  const details = screen.getByText(line).closest("details");
  if (details?.open === false) await user.click(screen.getByText(line));
  await waitFor(() => expect(details?.querySelector(".disclosure-body")).not.toBeNull());
}

test("what the user says last comes first, and nothing of the request is hidden", async () => {
  const { container, user } = show({ request: everything });
  const card = screen.getByRole("region", { name: "database wants to ask a model" });
  within(card).getByText(
    "4 messages · a system prompt · 1 image, 1 audio clip · about 1,525 tokens · at most 1,500 tokens back",
  );
  expect(container.querySelector(".turn-role")?.textContent).toBe("User");
  expect(within(card).getByText("You are terse.").tagName).toBe("Q");
  await unfold(user, "System prompt:");
  await unfold(user, /^\d earlier messages?:$/);
  within(card).getByText("You are *terse*.", { selector: "pre" });
  within(card).getByText("Look at this:");
  expect(within(card).getByRole("img").getAttribute("src")).toBe(`data:image/png;base64,${png}`);
  expect(
    within(card)
      .getByLabelText(/^Audio from the server/)
      .getAttribute("src"),
  ).toBe("data:audio/wav;base64,AAAA");
  within(card).getByText(/"tool_use"/);
  const values = [...container.querySelectorAll("dl > div")].map((row) => row.textContent);
  expect(values).toEqual([
    "Temperature0",
    'Stop sequences"\\n\\n", "END"',
    "Context asked forthisServer",
    "Model preferenceslike claude, then gpt; cost 0; speed 0.5; intelligence 1",
  ]);
  within(card).getByText(/"trace": "abc"/);
  expect(await axeFindings(container)).toEqual([]);
});

describe("the texts of a request", () => {
  const text = "Users to delete: 30\nLast login: 2021\n\n**Ask** a@example.com, <b>then</b> ";
  const long = text.repeat(25);
  const shown = (text: string) =>
    show({
      request: {
        systemPrompt: text,
        messages: [{ role: "user", content: [{ type: "text", text }] }],
        maxTokens: 1,
      },
    });
  const exact = (container: HTMLElement) =>
    [...container.querySelectorAll("pre")].map((pre) => pre.textContent);

  test("are exact and whole, and no link is in the way to the buttons", async () => {
    const { container, user } = shown(long);
    await unfold(user, "System prompt:");
    expect(long.length).toBeLessThan(2048);
    expect(exact(container)).toEqual([long, long]);
    expect(container.querySelector(".clamp")).toBeNull();
    expect(screen.queryByRole("link")).toBeNull();
  });

  test("show the characters that hide", async () => {
    const { container, user } = shown("pay\u202e\u200b me");
    screen.getByText("pay[U+202E][U+200B] me", { selector: "q" });
    await unfold(user, "System prompt:");
    expect(exact(container)).toEqual(["pay[U+202E][U+200B] me", "pay[U+202E][U+200B] me"]);
  });

  test("are Markdown for who wants that, also after a reload", async () => {
    const { container, user, unmount } = shown(text);
    await unfold(user, "System prompt:");
    await user.click(screen.getByRole("button", { name: "Show as Markdown" }));
    expect(screen.getAllByText("Ask").map(({ tagName }) => tagName)).toEqual(["STRONG", "STRONG"]);
    expect(exact(container)).toEqual([]);
    unmount();
    const again = shown(text);
    expect(screen.getAllByText("Ask")).toHaveLength(2);
    await again.user.click(screen.getByRole("button", { name: "Show Exact Text" }));
    expect(exact(again.container)).toEqual([text, text]);
  });
});

test("a long text is clamped, and all of it is one press away", async () => {
  const text = "All work and no play. ".repeat(200);
  const { user, container } = show({
    request: { messages: [{ role: "user", content: [{ type: "text", text }] }], maxTokens: 1 },
  });
  expect(container.querySelector(".clamp-some")?.textContent).toContain(text.trim());
  await user.click(screen.getByRole("button", { name: "Show all (4,400 characters)" }));
  expect(container.querySelector(".clamp-some")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Show less" }));
  expect(container.querySelector(".clamp-some")).not.toBeNull();
});

test("approving, declining and putting away are three things", async () => {
  const { user, onApprove, onDecline, onCancel } = show();
  const counts = () => [onApprove, onDecline, onCancel].map((way) => way.mock.calls.length);
  await user.click(approve());
  expect(counts()).toEqual([1, 0, 0]);
  expect(onApprove).toHaveBeenCalledWith({});
  await user.click(screen.getByRole("button", { name: "Decline" }));
  expect(counts()).toEqual([1, 1, 0]);
  dismiss();
  await user.keyboard("{Escape}");
  expect(counts()).toEqual([1, 1, 1]);
});

test("the model that will answer is named", () => {
  show();
  screen.getByText("Demo (not a language model)");
});

test("another model can be chosen, and is named in the approval only then", async () => {
  const { user, onApprove, onDraft } = show({ models: [demoModel, otherModel] });
  const select = screen.getByRole("combobox", { name: "Answered by" });
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith({});
  await user.selectOptions(select, "gpt at localhost");
  expect(onDraft).toHaveBeenCalledExactlyOnceWith({ model: otherModel.id });
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith({ modelId: otherModel.id });
});

test("the model chosen in an earlier life of the view is still chosen", async () => {
  const { user, onApprove } = show({
    models: [demoModel, otherModel],
    draft: { model: otherModel.id },
  });
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith({ modelId: otherModel.id });
});

test("why a model is proposed is said for as long as it is the one", async () => {
  const why = 'The server asked for "demo".';
  const { user } = show({ models: [demoModel, otherModel], modelReason: why });
  screen.getByText(why);
  await user.selectOptions(
    screen.getByRole("combobox", { name: "Answered by" }),
    "gpt at localhost",
  );
  expect(screen.queryByText(why)).toBeNull();
});

test("without a proposal, the first model that can answer is chosen", async () => {
  const { user, onApprove } = show({ model: undefined, models: [otherModel] });
  screen.getByText("gpt at localhost");
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith({ modelId: otherModel.id });
});

test("without any model, it says so and can only be declined", async () => {
  const { user, onApprove, onDecline } = show({ model: undefined, models: [] });
  screen.getByText(/^No model can answer\./);
  await user.click(approve());
  expect(onApprove).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: "Decline" }));
  expect(onDecline).toHaveBeenCalledTimes(1);
});

test("all ways are shut while an answer is under way", async () => {
  const { user, onApprove, onDecline, onCancel } = show({ busy: true });
  await user.click(approve());
  await user.click(screen.getByRole("button", { name: "Decline" }));
  dismiss();
  expect([onApprove, onDecline, onCancel].map((way) => way.mock.calls.length)).toEqual([0, 0, 0]);
});

describe("an edit", () => {
  const request: McpSamplingRequest = {
    systemPrompt: "Be brief.",
    messages: [
      { role: "user", content: [{ type: "text", text: "My key is 1234." }] },
      { role: "user", content: [{ type: "image", data: png, mimeType: "image/png" }] },
    ],
    maxTokens: 100,
    temperature: 0.5,
  };
  const field = (name: string) => screen.getByRole("textbox", { name });
  const marked = (container: HTMLElement, tag: "del" | "ins") =>
    [...container.querySelectorAll(tag)].map((element) => element.textContent);

  test("is sent as it is shown, with what differs", async () => {
    const { user, onApprove, container } = show({ request });
    await user.click(screen.getByRole("button", { name: "Edit" }));
    await user.clear(field("System prompt"));
    await user.type(field("System prompt"), "Be kind.");
    await user.clear(field("User, message 1"));
    await user.type(field("User, message 1"), "My key is secret.");
    await user.clear(field("Maximum tokens"));
    await user.type(field("Maximum tokens"), "50");
    await user.clear(field("Temperature"));
    await user.click(screen.getByRole("checkbox", { name: "Leave out User, message 2" }));
    expect(await axeFindings(container)).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Edit", pressed: true }));
    expect(marked(container, "del").join("|")).toMatch(/^brief\|1234.*image\/png.*\|100\|0\.5$/s);
    expect(marked(container, "ins")).toEqual(["kind", "secret", "50", "the model's own"]);
    screen.getByText(/^1 message · .* at most 50 tokens back$/);
    await user.click(approve());
    expect(onApprove).toHaveBeenCalledExactlyOnceWith({
      samplingEdit: {
        systemPrompt: "Be kind.",
        messages: [{ role: "user", content: [{ type: "text", text: "My key is secret." }] }],
        maxTokens: 50,
      },
    });
  });

  test("is made without a mouse, and Escape leaves the editor and not the ask", async () => {
    const { user, onApprove, onCancel } = show({ request });
    screen.getByRole("button", { name: "Edit" }).focus();
    await user.keyboard("{Enter}");
    expect(document.activeElement).toBe(field("System prompt"));
    field("Maximum tokens").focus();
    await user.keyboard("{Control>}a{/Control}{Backspace}7{Escape}");
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Edit" }));
    expect(onCancel).not.toHaveBeenCalled();
    for (let tabs = 0; tabs < 4; tabs++) await user.tab({ shift: true });
    expect(document.activeElement).toBe(approve());
    await user.keyboard("{Enter}");
    expect(onApprove).toHaveBeenCalledExactlyOnceWith({
      samplingEdit: { systemPrompt: "Be brief.", temperature: 0.5, maxTokens: 7 },
    });
  });

  test.each([
    ["Maximum tokens", "101", "Enter a whole number from 1 to 100"],
    ["Maximum tokens", "0", "Enter a whole number from 1 to 100"],
    ["Maximum tokens", "many", "Enter a whole number from 1 to 100"],
    ["Temperature", "2.1", "Enter a number from 0 to 2."],
    ["Temperature", "hot", "Enter a number from 0 to 2."],
  ])("of %s to %s is not sent, and says why", async (name, text, why) => {
    const { user, onApprove } = show({ request, draft: { editing: true } });
    await user.clear(field(name));
    await user.type(field(name), text);
    expect(isWrong(field(name))).toBe(true);
    expect(descriptionOf(field(name))).toContain(why);
    await user.keyboard("{Escape}");
    expect(isWrong(field(name))).toBe(true);
    await user.click(approve());
    expect(onApprove).not.toHaveBeenCalled();
  });

  test("cannot leave out everything", async () => {
    const { user } = show({ request, draft: { editing: true } });
    for (const box of screen.getAllByRole("checkbox")) await user.click(box);
    screen.getByText("Keep at least one message.");
    expect(approve().matches(":disabled")).toBe(true);
  });

  test("hides nothing that cannot be edited", () => {
    show({ request: everything, draft: { editing: true } });
    screen.getByText('"\\n\\n", "END"');
    screen.getByText("thisServer");
    screen.getByText(/"trace": "abc"/);
    expect(screen.getByRole("img").getAttribute("src")).toContain(png);
    screen.getByText(/"tool_use"/);
  });

  test("can be undone, and was never made", async () => {
    const { user, onApprove, onDraft } = show({
      request,
      draft: { model: demoModel.id, systemPrompt: "Lie." },
    });
    await user.click(screen.getByRole("button", { name: "Undo all changes" }));
    expect(onDraft).toHaveBeenLastCalledWith({ model: demoModel.id, editing: false });
    await user.click(approve());
    expect(onApprove).toHaveBeenLastCalledWith({});
  });
});

describe("an answer as the model", () => {
  const begin = () => chooseWay("More Ways to Approve", "Answer as the Model…");
  const field = (name: string) => screen.getByRole<HTMLInputElement>("textbox", { name });
  const primaries = (container: HTMLElement) =>
    [...container.querySelectorAll(".primary:not(.split-more)")].map((one) => one.textContent);

  test("is written by hand, and nothing else goes with it", async () => {
    const { user, container, onApprove } = show({
      request: toolRequest,
      models: [demoModel, otherModel],
      draft: { model: otherModel.id, maxTokens: "7", editing: true },
    });
    begin();
    const completion = field("Completion");
    expect(document.activeElement).toBe(completion);
    expect(primaries(container)).toEqual(["Return to Server"]);
    screen.getByText("Rain from noon.");
    expect(screen.queryByRole("combobox", { name: "Answered by" })).toBeNull();
    await user.keyboard("Rain.{Enter}Or sun.");
    const stop = screen.getByRole<HTMLInputElement>("combobox", { name: "Stop reason" });
    expect(stop.value).toBe("endTurn");
    await user.clear(stop);
    expect(field("Model's name").value).toBe("human");
    await user.type(field("Model's name"), "-1");
    expect(await axeFindings(container)).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Return to Server" }));
    expect(onApprove).toHaveBeenCalledExactlyOnceWith({
      handWritten: { text: "Rain.\nOr sun.", model: "human-1" },
    });
  });

  test("is possible without a model, and is put aside without losing it", async () => {
    const { user, onCancel, onApprove } = show({ model: undefined, models: [] });
    begin();
    await user.keyboard("Hello{Escape}");
    expect(onCancel).not.toHaveBeenCalled();
    expect(screen.queryByRole("textbox", { name: "Completion" })).toBeNull();
    screen.getByText(/^No model can answer\./);
    begin();
    expect(field("Completion").value).toBe("Hello");
    await user.click(screen.getByRole("button", { name: "Back" }));
    await user.click(approve());
    expect(onApprove).not.toHaveBeenCalled();
  });

  test("says at its fields what the server would not get", () => {
    show({
      draft: { byHand: true },
      fieldProblems: [
        { name: "text", message: "The text is empty." },
        { name: "stopReason", message: "There are no calls." },
      ],
    });
    expect(isWrong(field("Completion"))).toBe(true);
    expect(descriptionOf(field("Completion"))).toBe("The text is empty.");
    const stop = screen.getByRole("combobox", { name: "Stop reason" });
    expect(descriptionOf(stop)).toBe("There are no calls.");
    expect(isWrong(field("Model's name"))).toBe(false);
  });

  test("that is refused is corrected at its problem", () => {
    const refused = { draft: { byHand: true }, refusal: "It cannot be returned." };
    const { rerenderWith } = show({ ...refused, busy: true });
    (document.activeElement as HTMLElement).blur();
    rerenderWith({ ...refused, fieldProblems: [{ name: "model", message: "A name." }] });
    expect(document.activeElement).toBe(field("Model's name"));
    expect(screen.queryByText("It cannot be returned.")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Back" }));
    expect(screen.queryByText("It cannot be returned.")).toBeNull();
  });

  test("is no change of the request", async () => {
    const { user } = show({ draft: { "byHand text": "Hello" } });
    expect(screen.queryByText("What you changed")).toBeNull();
    await user.click(approve());
  });
});

test("the cost follows the model and the edits", async () => {
  const dear = { ...otherModel, inputCost: 3, outputCost: 15 };
  const free = { ...demoModel, inputCost: 0, outputCost: 0 };
  const { user } = show({ model: dear, models: [dear, free], draft: { editing: true } });
  screen.getByText("1 message · about 8 tokens · at most 500 tokens back · less than $0.01");
  const most = screen.getByRole("textbox", { name: "Maximum tokens" });
  await user.clear(most);
  // A wrong edit cannot be measured, so the original request is.
  screen.getByText(/at most 500 tokens back · less than \$0\.01$/);
  await user.type(most, "50");
  screen.getByText(/at most 50 tokens back · less than \$0\.01$/);
  await user.selectOptions(screen.getByRole("combobox", { name: "Answered by" }), free.name);
  screen.getByText(/at most 50 tokens back · free$/);
});

test("a cost of some cents is told as the most it can be", () => {
  const dear = { ...demoModel, inputCost: 3, outputCost: 75 };
  const { unmount } = show({ model: dear, models: [dear] });
  screen.getByText(/ · at most about \$0\.0375$/);
  unmount();
  show();
  expect(screen.queryByText(/\$/)).toBeNull();
});

test("what the chosen model cannot take is said, and that of another is not", async () => {
  const parrot: Model = { ...demoModel, name: "Parrot", cannot: ["stopSequences"] };
  const { user, container } = show({
    request: everything,
    model: parrot,
    models: [parrot, otherModel],
  });
  screen.getByText("Parrot does not support: stop sequences. They are left out.");
  expect(await axeFindings(container)).toEqual([]);
  await user.selectOptions(screen.getByRole("combobox", { name: "Answered by" }), otherModel.name);
  expect(screen.queryByText(/cannot take/)).toBeNull();
});

describe("tools", () => {
  test("that are offered, called and returned from are all shown", async () => {
    const { container, user } = show({ request: toolRequest });
    screen.getByText(/^3 messages · 2 tools offered · 2 tool calls, 2 tool results · about /);
    screen.getByText("The model must call at least one of them.");
    const offered = screen.getByRole("list", { name: "Tools offered to the model" });
    const [first, second] = within(offered).getAllByRole("listitem");
    expect(first?.textContent).toContain("forecast Weather forecast");
    within(offered).getByText("The weather of *one* city.");
    expect(second?.textContent).toBe("tides");
    expect(screen.queryByText(/"properties"/)).toBeNull();
    await user.click(within(offered).getByText("Its arguments, as a JSON Schema"));
    await within(offered).findByText(/"properties"/);
    const blocks = () =>
      [...container.querySelectorAll(".tool-block")].map((block) => block.textContent);
    const results = [
      'The tool forecast returnedRain from noon.{\n  "rain": true\n}',
      "The tool tides failedNo coast.",
    ];
    await unfold(user, "2 earlier messages:");
    expect(blocks()).toEqual([
      ...results,
      'Calls the tool forecast with{\n  "city": "Paris"\n}',
      "Calls the tool tides with{}",
    ]);
    expect(await axeFindings(container)).toEqual([]);
  });

  test.each([
    [{ mode: "auto" as const }, "The model may call them or not."],
    [{}, "The model may call them or not."],
    [{ mode: "none" as const }, "The model must call none of them."],
  ])("are offered under terms: %j", (toolChoice, words) => {
    show({ request: { ...toolRequest, toolChoice } });
    screen.getByText(words);
  });

  test("are there while the texts around them are edited, and in the comparison", async () => {
    const { container, user, onApprove } = show({ request: toolRequest });
    await user.click(screen.getByRole("button", { name: "Edit" }));
    screen.getByRole("list", { name: "Tools offered to the model" });
    expect(container.querySelectorAll(".tool-block")).toHaveLength(4);
    const text = screen.getByRole("textbox", { name: "Assistant, message 2, part 1" });
    await user.clear(text);
    await user.type(text, "Hm.");
    expect(container.querySelector(".diff")?.textContent).toBe(
      " ⋯ Assistant:\nI lookHm.\n[calls forecast] ⋯ ",
    );
    await user.click(approve());
    expect(onApprove.mock.calls[0]?.[0].samplingEdit?.messages?.[1]?.content?.[1]).toEqual(
      toolRequest.messages?.[1]?.content?.[1],
    );
  });

  test("are removed together with their results, or not at all", async () => {
    const { user } = show({ request: toolRequest, draft: { editing: true } });
    await user.click(screen.getByRole("checkbox", { name: "Leave out Assistant, message 2" }));
    screen.getByText("A tool call and its result belong together: leave out both, or keep both.");
    expect(approve().matches(":disabled")).toBe(true);
    await user.click(screen.getByRole("checkbox", { name: "Leave out User, message 3" }));
    expect(approve().matches(":disabled")).toBe(false);
  });
});

test("of very many messages, all are one press away", async () => {
  const messages = Array.from({ length: 60 }, (_, index) => ({
    role: "user" as const,
    content: [{ type: "text" as const, text: `Turn ${index + 1}` }],
  }));
  const { user } = show({ request: { messages, maxTokens: 1 } });
  screen.getByText("Turn 60");
  await unfold(user, "59 earlier messages:");
  expect(screen.queryByText("Turn 59", { selector: "pre" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Show all 59 messages" }));
  screen.getByText("Turn 59", { selector: "pre" });
});
