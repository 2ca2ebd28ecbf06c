import type { Body, ModelEndReason, ModelMessage } from "@assent/protocol";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import type { Actions } from "../../store/session.ts";
import { axeFindings } from "../../testing/axe.ts";
import { entryOf } from "../../testing/entries.ts";
import { at, call, callTool, demoModel, message } from "../../testing/samples.ts";
import { ChatRow, type ChatRowProps } from "./ChatRow.tsx";

const sendChat = vi.fn<Actions["sendChat"]>(async () => {});
const branchTask = vi.fn<Actions["branchTask"]>();
const retryChat = vi.fn<Actions["retryChat"]>();
const actions = { sendChat, branchTask, retryChat } as Partial<Actions> as Actions;

function show(body: Body, props: Partial<ChatRowProps> = {}) {
  const row = (next: Body) => (
    <ChatRow taskId="t1" entry={entryOf(message(7, next))} {...{ actions }} {...props} />
  );
  const drawn = render(row(body));
  return { ...drawn, change: (next: Body) => drawn.rerender(row(next)), user: userEvent.setup() };
}

const said = (part: Partial<ModelMessage> = {}): Body => ({
  type: "model",
  model: demoModel,
  ...part,
});
const ended = (reason: ModelEndReason, part: Partial<ModelMessage> = {}): Body =>
  said({ end: { reason, at }, ...part });

test("an attached file is shown by its name: its text, or its image", async () => {
  const { change, container } = show({
    type: "attachment",
    name: "notes.txt",
    content: { type: "text", text: "*milk*" },
  });
  screen.getByRole("article", { name: "You attached notes.txt" });
  screen.getByText("*milk*");
  const content = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" } as const;
  change({ type: "attachment", name: "dot.png", content });
  expect(screen.getByRole("img", { name: "dot.png" }).getAttribute("src")).toBe(
    "data:image/png;base64,iVBORw0KGgo=",
  );
  expect(await axeFindings(container)).toEqual([]);
});

describe("what the person said", () => {
  const body: Body = { type: "user", text: "Remove *all*\nof it" };

  test("is shown letter by letter, with nothing for axe to find", async () => {
    const { container } = show(body);
    expect(screen.getByRole("article", { name: "You" }).textContent).toContain(
      "Remove *all*\nof it",
    );
    expect(await axeFindings(container)).toEqual([]);
  });

  test("is said again in other words, with Enter", async () => {
    const { user } = show(body);
    await user.click(screen.getByRole("button", { name: "Edit and Resend" }));
    const text = screen.getByRole("textbox", { name: "Edit your message" });
    expect(document.activeElement).toBe(text);
    await user.clear(text);
    await user.type(text, "Remove{Shift>}{Enter}{/Shift}some{Enter}");
    expect(sendChat).toHaveBeenCalledExactlyOnceWith({ text: "Remove\nsome", replaces: 7 });
    await waitFor(() => expect(screen.queryByRole("textbox")).toBeNull());
  });

  test("stays when the edit is put away, or refused", async () => {
    const { user } = show(body);
    await user.click(screen.getByRole("button", { name: "Edit and Resend" }));
    await user.keyboard("x{Escape}");
    expect(screen.queryByRole("textbox")).toBeNull();
    sendChat.mockRejectedValueOnce(new Error("the model is at work: stop it first"));
    await user.click(screen.getByRole("button", { name: "Edit and Resend" }));
    await user.click(screen.getByRole("button", { name: "Resend" }));
    await screen.findByText("the model is at work: stop it first");
    screen.getByRole("textbox");
  });

  test("cannot be replaced while the model is at work, nor in a closed task", () => {
    const { unmount } = show(body, { running: true });
    const edit = screen.getByRole("button", { name: /^Edit and Resend/ });
    expect(edit.matches(":disabled")).toBe(true);
    unmount();
    show(body, { closed: true });
    expect(screen.queryByRole("button", { name: /^Edit/ })).toBeNull();
  });

  test("is where another task begins", async () => {
    const { user } = show(body);
    await user.click(screen.getByRole("button", { name: "Branch from Here" }));
    expect(branchTask).toHaveBeenCalledExactlyOnceWith("t1", 7);
  });
});

describe("what a model said", () => {
  test("is drawn while it writes, and has its tools when it is done", async () => {
    const { change, container } = show(said({ progress: { text: "The **ri", sequence: 2 } }));
    const row = screen.getByRole("article", { name: demoModel.name });
    expect(row.getAttribute("aria-busy")).toBe("true");
    expect(row.textContent).toContain("The **ri");
    expect(screen.queryByRole("button", { name: "Copy Message" })).toBeNull();
    change(ended("endTurn", { text: "The **risk**", usage: { inputTokens: 10, outputTokens: 2 } }));
    expect(screen.getByText("risk").tagName).toBe("STRONG");
    screen.getByText("10 tokens in · 2 tokens out");
    screen.getByRole("button", { name: "Copy Message" });
    expect(await axeFindings(container)).toEqual([]);
  });

  test.each<[ModelEndReason, RegExp]>([
    ["maxTokens", /token limit/],
    ["refused", /refused/],
    ["stopped", /^You stopped it\.$/],
    ["failed", /^There is no answer\./],
    ["roundsLimit", /limit of tool rounds/],
    ["interrupted", /^Assent stopped before/],
  ])("and ended as %s says so", (reason, words) => {
    show(ended(reason));
    screen.getByText(words);
  });

  test("names why there is no answer, and tries again", async () => {
    const body = said({ end: { reason: "failed", detail: "The quota is used up.", at } });
    const { user } = show(body, { goOn: "Retry", goOnBy: "retry" });
    screen.getByText("There is no answer. The quota is used up.");
    await user.click(screen.getByRole("button", { name: "Retry" }));
    expect(retryChat).toHaveBeenCalledExactlyOnceWith("t1");
  });

  test("and was cut off goes on when it is told to", async () => {
    const { user } = show(ended("maxTokens"), { goOn: "Continue", goOnBy: "message" });
    await user.click(screen.getByRole("button", { name: "Continue" }));
    expect(sendChat).toHaveBeenCalledExactlyOnceWith({ text: "Go on where you stopped." });
  });

  test("says what was left out of its request", () => {
    show(ended("endTurn", { leftOut: { messages: 3, tools: 2 } }));
    screen.getByText(/: 3 earlier messages and 2 tools\.$/);
  });

  test("names the calls that were not made", () => {
    const toolUses = [
      { id: "1", name: "nothing__there", error: "There is no such tool." },
      { id: "2", name: "database__cleanup", serverName: "database", toolName: "cleanup" },
    ];
    show(ended("toolUse", { toolUses }));
    expect(screen.getByText(/was not called/).textContent).toBe("nothing__there was not called.");
    screen.getByText("The model was told: There is no such tool.");
  });
});

test("a call of a model's is a line, which opens", async () => {
  const body = call({
    toolUse: { messageId: 1, toolUseId: "1" },
    request: callTool({ older: "2024" }),
    endedAt: at + 1000,
    result: { type: "result", content: [{ type: "text", text: "12 rows" }] },
  });
  const { user, container } = show(body);
  screen.getByRole("article", { name: "cleanup of database" });
  expect(screen.queryByText("12 rows")).toBeNull();
  await user.click(screen.getByText("Arguments and result"));
  await screen.findByText("12 rows");
  screen.getByText(/"older": "2024"/);
  expect(await axeFindings(container)).toEqual([]);
});

test("code has its colours, and all of its letters", async () => {
  const code = 'const a = "<b>"; // note';
  show(ended("endTurn", { text: `\`\`\`js\n${code}\n\`\`\`\n\n\`\`\`nolanguage\nx = 1\n\`\`\`` }));
  screen.getByText("x = 1");
  const keyword = await screen.findByText("const");
  expect(keyword.className).toBe("hljs-keyword");
  expect(keyword.closest("pre")?.textContent).toBe(code);
  expect(screen.getAllByRole("button", { name: "Copy Code" })).toHaveLength(2);
});
