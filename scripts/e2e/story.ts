import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { assertInSight } from "./dockStory.ts";
import { type Panel, returned } from "./panel.ts";
import { step } from "./step.ts";

/** The server on the official TypeScript SDK. The stories run its tools. */
export const server = "test-elicitation";
/** The server on go-sdk: it speaks 2026-07-28, and has tools, resources and a prompt. */
export const goServer = "go-example";
const asksPerson = "ask_user_preferences";
const asksModel = "request_llm_help";

/** A question that the demo model has an answer to. */
const question = "What is sampling?";

/** The story of a form, from the tool to exactly the typed values, without a mouse. */
export async function fillInForm(panel: Panel): Promise<void> {
  await step("a form is filled in with the keyboard and reaches the server", async () => {
    await panel.runTool(server, asksPerson);
    const form = panel.form(server);
    await form.getByText("How should this operation write its results?").waitFor();
    const format = form.getByRole("radiogroup", { name: "Output format" });
    await panel.tabTo(format.getByRole("radio", { name: "json" }));
    await panel.press("ArrowDown");
    assert(await format.getByRole("radio", { name: "markdown" }).isChecked());
    const verbosity = form.getByRole("radiogroup", { name: "Verbosity" });
    await panel.tabTo(verbosity.getByRole("radio", { name: "No answer" }));
    await panel.press("ArrowUp");
    assert(await verbosity.getByRole("radio", { name: "verbose" }).isChecked());
    const timestamps = form.getByRole("checkbox", { name: "Include timestamps" });
    assert(await timestamps.isChecked(), "the default is filled in");
    await panel.tabTo(timestamps);
    await panel.press("Space");
    await isArmed(panel, form);
    await panel.tabTo(form.getByRole("button", { name: "Submit" }));
    await panel.press("Enter");
    assert.deepEqual(await preferences(panel), {
      action: "accept",
      content: { outputFormat: "markdown", verbosity: "verbose", includeTimestamps: false },
    });
    await panel.settled("You answered: markdown, verbose").waitFor();
  });
}

export async function declineForm(panel: Panel, of = server): Promise<void> {
  await step(`a declined form is told as declined to ${of}`, async () => {
    await panel.runTool(of, asksPerson);
    await panel.form(of).getByRole("button", { name: "Decline", exact: true }).click();
    assert.deepEqual(await preferences(panel, of), { action: "decline" });
    await panel.settled("You declined: ").waitFor();
  });
}

export async function cancelForm(panel: Panel): Promise<void> {
  await step("a dismissed form is told as cancelled", async () => {
    await panel.runTool(server, asksPerson);
    const form = panel.form(server);
    await isArmed(panel, form);
    await panel.choose(form, "More Ways to Decline", "Dismiss without an answer");
    assert.deepEqual(await preferences(panel), { action: "cancel" });
    await panel.settled("You dismissed it without an answer").waitFor();
  });
}

/** The story of a completion, from the tool through the approval, the stream and the review to the result. */
export async function approveCompletion(panel: Panel): Promise<void> {
  await step("a completion is approved, streams in, and reaches the server", async () => {
    await panel.runTool(server, asksModel, { Question: question });
    const approval = panel.approval(server);
    await approval.getByText(question).waitFor();
    await approval.getByText("500").first().waitFor();
    await panel.approve(approval, "Approve & Send");
    const answer = panel.settled(/You let .* answer/);
    // On a busy machine the answer may be whole, and under review, before it is first seen.
    const isAnswering = answer.getByText(/ is answering$/);
    await isAnswering.or(panel.review(server)).first().waitFor();
    const reviewed = panel.review(server).getByText(/^Sampling lets/);
    await answer
      .getByText(/^Sampling lets/)
      .or(reviewed)
      .first()
      .waitFor();
    const call = panel.call(server, asksModel);
    assert(await call.getByText("running").isVisible(), "the answer is shown while it is written");
    await reviewed.waitFor();
    assert(await call.getByText("running").isVisible(), "the server waits for the review");
    await returnAnswer(panel);
    const text = await returned(call);
    assert.match(text, /^LLM response: Sampling lets an MCP server ask/);
  });
}

/** A completion is written by hand in place of a model. */
export async function answerAsModel(panel: Panel): Promise<void> {
  await step("a completion is written by hand, and the server gets it word by word", async () => {
    await panel.runTool(server, asksModel, { Question: question });
    const approval = panel.approval(server);
    await panel.choose(approval, "More Ways to Approve", "Answer as the Model…");
    await panel.focused(approval.getByLabel("Completion")).waitFor();
    await assertInSight(approval, "Return to Server");
    await panel.type("It asks.");
    await panel.press("Control+Enter");
    assert.equal(await returned(panel.call(server, asksModel)), "LLM response: It asks.");
  });
}

/** A request is edited before it goes, and what the model wrote before it is returned. */
export async function editCompletion(panel: Panel): Promise<void> {
  await step("a completion is edited on its way there and back, with the keyboard", async () => {
    await panel.runTool(server, asksModel, { Question: question });
    const approval = panel.approval(server);
    await panel.tabTo(approval.getByRole("button", { name: "Edit" }));
    await panel.press("Enter");
    await panel.focused(approval.getByLabel("System prompt")).waitFor();
    await panel.tabTo(approval.getByLabel("Maximum tokens"));
    // Not Control+A, which VS Code takes out of a webview and brings back when more was typed.
    await panel.press("End", "Backspace", "Backspace", "Backspace", "9", "Escape");
    await approval.getByText("What you changed").waitFor();
    await panel.readTo(approval, "Approve & Send");
    const send = approval.getByRole("button", { name: "Approve & Send", disabled: false });
    await panel.tabTo(send, "Shift+Tab");
    await panel.press("Enter");
    const review = panel.review(server);
    await review.getByText("was cut off at the token limit").waitFor();
    await panel.tabTo(review.getByRole("button", { name: "Edit" }));
    await panel.press("Enter");
    await panel.focused(review.getByLabel("Answer to the server")).waitFor();
    await panel.press("Home", "O", "h", ":", "Space", "Escape");
    await panel.readTo(review, "Return to Server");
    const give = review.getByRole("button", { name: "Return to Server", disabled: false });
    await panel.tabTo(give, "Shift+Tab");
    await panel.press("Enter");
    const text = await returned(panel.call(server, asksModel));
    assert.match(text, /^LLM response: Oh: Sampling lets an MCP server/);
    await panel.settled("You returned (edited): Oh: Sampling lets an MCP server").waitFor();
  });
}

/** A person allows the next completions with one, and takes that back when they have seen enough. */
export async function allowCompletions(panel: Panel): Promise<void> {
  const ask = () => panel.runTool(server, asksModel, { Question: question });
  const answer = async () => {
    const text = await returned(panel.call(server, asksModel));
    assert.match(text, /^LLM response: Sampling lets/);
  };
  await step("a completion is approved and the next ones allowed, with the keyboard", async () => {
    await ask();
    const approval = panel.approval(server);
    await panel.tabTo(approval.getByRole("button", { name: "More Ways to Approve" }));
    await panel.press("Enter");
    await approval.getByRole("menuitem", { name: "Approve and Allow…", disabled: false }).waitFor();
    await panel.press("Enter");
    await panel.tabTo(approval.getByLabel("Requests"));
    await panel.press("End", "Backspace", "2");
    await panel.tabTo(approval.getByLabel("Review each answer before the server gets it"));
    await panel.press("Space");
    await approval
      .getByText(/^Up to 12 requests from .* The server gets each answer at once\.$/)
      .waitFor();
    const allow = { name: "Approve and Allow", exact: true, disabled: false } as const;
    await panel.tabTo(approval.getByRole("button", allow));
    await panel.press("Enter");
    await answer();
  });
  await step("the next one goes by itself, until the grant is revoked", async () => {
    await panel.startTool(server, asksModel, { Question: question });
    const granted = panel.settled(/Your grant let .* answer/);
    await granted.waitFor();
    await answer();
    await panel.chooseInHead("Automatic Answers (1 active)");
    await panel.policy().getByText("2 of 12").waitFor();
    await panel.leavePages();
    await granted.getByRole("button", { name: /^Revoke/ }).click();
    await granted.getByRole("button", { name: /^Revoke/ }).waitFor({ state: "detached" });
    await ask();
    await panel
      .approval(server)
      .getByText(/revoked/)
      .waitFor();
    await panel.approval(server).getByRole("button", { name: "Decline", exact: true }).click();
    await panel.call(server, asksModel).getByText("refused").waitFor();
  });
}

/** A key that a server put into a prompt does not get as far as the model. */
export async function redactSecret(panel: Panel): Promise<void> {
  await step("a key in a completion is marked, redacted and not sent", async () => {
    // Put together here, so that a scanner of source code does not take it for a real one.
    const key = ["AKIA", "Q3EGRIJ4XKBDEMPL"].join("");
    await panel.runTool(server, asksModel, { Question: `What is sampling with ${key}?` });
    const approval = panel.approval(server);
    await approval.locator("mark", { hasText: key }).waitFor();
    const send = approval.locator(".ask-actions .primary").first();
    await approval.getByLabel("Send with 1 secret").waitFor();
    assert(await send.isDisabled(), "it cannot be sent by accident");
    await panel.tabTo(approval.getByRole("button", { name: "Redact AKIA…EMPL" }));
    await panel.press("Enter");
    await approval.getByText("No secret is left in the request.").waitFor();
    await panel.approve(approval, "Approve & Send");
    await panel.review(server).getByRole("button", { name: "Decline", exact: true }).click();
    await panel.call(server, asksModel).getByText("refused").waitFor();
    const settled = panel.settled("You edited the request and let ");
    await settled.getByText("You edited the request and let ").click();
    await settled.locator("ins", { hasText: "[redacted: " }).waitFor();
  });
}

export async function denyCompletion(panel: Panel): Promise<void> {
  await step("a declined completion is told as declined", async () => {
    await panel.runTool(server, asksModel, { Question: question });
    await panel.approval(server).getByRole("button", { name: "Decline", exact: true }).click();
    await panel.settled(`You declined to ask a model: ${question}`).waitFor();
    await panel.call(server, asksModel).getByText("refused").waitFor();
  });
}

/** Has another model than the proposed one answer. */
export async function letModelAnswer(panel: Panel, model: string, answer: RegExp): Promise<void> {
  await step(`a completion goes to ${model}, which was chosen for it`, async () => {
    await panel.runTool(server, asksModel, { Question: question });
    const approval = panel.approval(server);
    await chooseModel(approval.getByLabel("Answered by"), model);
    await panel.approve(approval, "Approve & Send");
    await returnAnswer(panel);
    assert.match(await returned(panel.call(server, asksModel)), answer);
  });
}

/** Chooses a model by a part of its name. */
export async function chooseModel(choice: Locator, model: string): Promise<void> {
  const option = await choice.getByRole("option", { name: model }).getAttribute("value");
  await choice.selectOption(option);
}

/** A resource, by the list of resources and by a template with the server's help. */
export async function readResources(panel: Panel): Promise<void> {
  await step("a resource is read", async () => {
    const runner = await panel.useServer(goServer, "Resources");
    await runner.getByText("stdio, MCP 2026-07-28").waitFor();
    await runner
      .getByRole("button", { name: /^Today's notes notes:\/\/today text\/markdown/ })
      .click();
    assert.match(await returned(panel.reading(goServer, "notes://today")), /^# Notes of today/);
  });
  await step("a template is filled in with completion, and read", async () => {
    const runner = await panel.useServer(goServer, "Resources");
    const template = runner.getByLabel("Template", { exact: true });
    await template.selectOption("Notes of a day (notes)");
    await runner.getByRole("combobox", { name: "day" }).fill("t");
    await runner.getByRole("option", { name: "thursday" }).click();
    await runner.getByRole("button", { name: "Read", exact: true }).click();
    assert.match(await returned(panel.reading(goServer, "notes://thursday")), /thursday/);
  });
}

/** A prompt, without a mouse from the tabs on. */
export async function fillInPrompt(panel: Panel): Promise<void> {
  await step("a prompt is filled in with the keyboard and completion", async () => {
    const runner = await panel.useServer(goServer, "Tools");
    await panel.tabTo(runner.getByRole("tab", { name: "Tools", selected: true }));
    await panel.press("End");
    await runner.getByRole("tabpanel", { name: "Prompts" }).waitFor();
    await panel.tabTo(runner.getByLabel("Prompt", { exact: true }));
    await panel.press("R");
    const language = runner.getByRole("combobox", { name: "Language" });
    await panel.tabTo(language);
    await panel.press("p");
    await runner.getByRole("option", { name: "python" }).waitFor();
    // The proposals for the empty text include it, too.
    await runner.getByRole("option", { name: "go", exact: true }).waitFor({ state: "detached" });
    await panel.press("ArrowDown", "Enter");
    assert.equal(await language.inputValue(), "python");
    await panel.press("Enter");
    const text = await returned(panel.prompt(goServer, "review"));
    assert.equal(text, "Review this code, as somebody who writes python every day.");
  });
}

/** A long call reports its progress, and ends when it is cancelled. */
export async function cancelCall(panel: Panel): Promise<void> {
  await step("a tool says how far it is, and is cancelled with the keyboard", async () => {
    await panel.runTool(goServer, "count_slowly", { n: "1000", waitMs: "100" }, "Tools");
    const call = panel.call(goServer, "count_slowly");
    await call.getByRole("progressbar").waitFor();
    await call.getByText(/^[1-9]\d* of 1,000$/).waitFor();
    await panel.tabTo(call.getByRole("button", { name: "Cancel" }), "Shift+Tab");
    await panel.press("Enter");
    await call.getByText("Cancelled before it ended.").waitFor();
    await call.getByRole("progressbar").waitFor({ state: "detached" });
  });
}

/** A call of 2026-07-28 that asks two questions at once continues when it has both answers. */
export async function answerTwoQuestions(panel: Panel): Promise<void> {
  await step("a form and a completion of one round are both answered", async () => {
    await panel.runTool(goServer, "two_questions", {}, "Tools");
    const form = panel.form(goServer);
    const approval = panel.approval(goServer);
    // The client chooses which of them comes first.
    await panel.waiting(`${goServer} asks`).waitFor();
    await panel.waiting(`${goServer} wants to ask a model`).click();
    await panel.approve(approval, "Approve & Send");
    await panel.settled(/You let .* answer/).waitFor();
    await panel.waiting(`Review the answer for ${goServer}`).click();
    await returnAnswer(panel, goServer);
    await form.getByRole("textbox", { name: "Name" }).fill("Ada");
    await panel.approve(form, "Submit");
    assert.match(await returned(panel.call(goServer, "two_questions")), /^accept: Ada: .+/);
  });
}

/** Leaves a form open that is half filled in. */
export async function beginForm(panel: Panel, of = server): Promise<void> {
  await panel.runTool(of, asksPerson);
  await panel.form(of).getByRole("radio", { name: "markdown" }).check();
}

/** Leaves a completion waiting for approval. */
export async function beginCompletion(panel: Panel): Promise<void> {
  await panel.runTool(server, asksModel, { Question: question });
  await panel.waiting(`${server} wants to ask a model`).waitFor();
}

/** Returns a model's answer to the server unchanged. */
export async function returnAnswer(panel: Panel, of = server): Promise<void> {
  await panel.approve(panel.review(of), "Return to Server");
}

/** For a moment after it appeared, a form takes no answer that was meant for something else. */
async function isArmed(panel: Panel, form: Locator): Promise<void> {
  await panel.readTo(form, "Submit");
}

async function preferences(panel: Panel, of = server): Promise<unknown> {
  const text = await returned(panel.call(of, asksPerson));
  const [, json] = /^User preferences: (.*)$/s.exec(text) ?? assert.fail(text);
  return JSON.parse(json ?? "");
}
