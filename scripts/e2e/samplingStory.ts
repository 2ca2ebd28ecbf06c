import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import { type ExtensionWindow, sampler } from "./extensionWindow.ts";
import { seeFlow } from "./flowStory.ts";
import { type Panel, returned } from "./panel.ts";
import { photograph } from "./screenshots.ts";
import { step } from "./step.ts";
import { chooseModel } from "./story.ts";

/** The widths in which a card is looked at: a narrow side bar, and half a window. */
const cardWidths = [320, 900];

/** Requests to VS Code's own models: edited, stopped, reviewed, asked again, and with tools. */
export async function tellSampling(window: ExtensionWindow): Promise<void> {
  await window.newTask();
  await keepBeginning(window);
  await keepNothing(window);
  await askAgain(window);
  await window.newTask();
  await callTools(window);
  await window.newTask();
  await seePicture(window);
}

/** What a tool of the server says that it got. */
interface Told {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: Readonly<Record<string, unknown>>;
}

async function told(
  panel: Panel,
  tool: string,
  end: Parameters<typeof returned>[1] = "done",
): Promise<Told> {
  return JSON.parse(await returned(panel.call(sampler, tool), end)) as Told;
}

/** A request as a person sends it, to a model of their choice. */
async function send(panel: Panel, approval: Locator, model: string): Promise<void> {
  await chooseModel(approval.getByLabel("Answered by"), model);
  await panel.approve(approval, "Approve & Send");
}

async function giveBack(panel: Panel, review: Locator): Promise<void> {
  await panel.approve(review, "Return to Server");
}

async function edit(card: Locator, label: string, text: string): Promise<void> {
  await card.getByRole("button", { name: "Edit", exact: true }).click();
  await card.getByLabel(label, { exact: true }).fill(text);
}

/** The prompt is edited, the answer streams, is stopped, edited and returned; a diagram shows each step. */
async function keepBeginning({ page, panel }: ExtensionWindow): Promise<void> {
  await step(
    "a model of VS Code is stopped, and what it wrote is edited and returned",
    async () => {
      const args = { Prompt: "Tell me a story.", "System prompt": "You are Homer." };
      await panel.runTool(sampler, "ask_model", args);
      const approval = panel.approval(sampler);
      await approval.getByText("Tell me a story.").waitFor();
      await seeFlow(panel, /^With you: .* waits for your approval/, "person");
      await photograph(page, "sampling-text", cardWidths);
      await edit(approval, "User, message 1", "Tell me a short story.");
      await approval.getByText("What you changed").waitFor();
      await send(panel, approval, "Test slow");
      const answer = panel.settled("You edited the request and let ");
      await answer.getByText(/I was stopped 0 times\. Line 1\. Line 2\./).waitFor();
      await seeFlow(panel, /^With the model: /, "model");
      await answer.getByRole("button", { name: "Stop and Keep Text" }).click();
      const review = panel.review(sampler);
      await review.getByText("was stopped by you").waitFor();
      await seeFlow(panel, /^With you: .* waits for your review/, "person");
      await edit(review, "Answer to the server", "Sing, o Muse.");
      await review.getByText("What you changed").waitFor();
      await giveBack(panel, review);
      await panel.text("Show diagram").waitFor({ state: "detached" });
      assert.deepEqual(await told(panel, "ask_model"), {
        result: {
          role: "assistant",
          content: { type: "text", text: "Sing, o Muse." },
          model: "Test slow (assent-test)",
          stopReason: "userStopped",
        },
      });
    },
  );
}

/** The model is stopped for good, and has heard of the first time. */
async function keepNothing({ panel }: ExtensionWindow): Promise<void> {
  await step("a model of VS Code is stopped, and its server gets nothing", async () => {
    await panel.runTool(sampler, "ask_model", { Prompt: "Tell me another." });
    await send(panel, panel.approval(sampler), "Test slow");
    const answer = panel.settled(/You let .* answer/);
    await answer.getByText(/I was stopped 1 times\. Line 1\./).waitFor();
    await answer.getByRole("button", { name: "Stop and Return Nothing" }).click();
    await answer.getByText("Assent told the server that you declined.").waitFor();
    assert.deepEqual(await told(panel, "ask_model", "failed"), {
      error: { code: -1, message: "User rejected sampling request" },
    });
  });
}

/** Another model answers in place of the first. */
async function askAgain({ panel }: ExtensionWindow): Promise<void> {
  await step("another model is asked for an answer, which is returned as it is", async () => {
    // The form of the tool keeps the earlier values.
    const args = { Prompt: "Who are you?", "System prompt": "I am Hera.", "Most tokens": "99" };
    const answer = "You said: I am Hera.Who are you? (at most 99 tokens)";
    await panel.runTool(sampler, "ask_model", args);
    await send(panel, panel.approval(sampler), "Demo");
    const review = panel.review(sampler);
    await review.getByText("This is where a language model would answer").waitFor();
    await chooseModel(review.getByLabel("Another answer by"), "Test caller");
    await review.getByRole("button", { name: "Ask Again" }).click();
    await review.getByText(answer).waitFor();
    await giveBack(panel, review);
    const { result } = await told(panel, "ask_model");
    assert.deepEqual(result, {
      role: "assistant",
      content: { type: "text", text: answer },
      model: "assent-test/caller",
      stopReason: "endTurn",
    });
  });
}

/** A model of VS Code calls two tools: one is left out, the other gets another input. */
async function callTools({ page, panel }: ExtensionWindow): Promise<void> {
  await step("a model of VS Code calls tools, as far as the person lets it", async () => {
    await panel.runTool(sampler, "research", { Question: "What is it like in Paris?" });
    const approval = panel.approval(sampler);
    await approval.getByText("2 tools offered to the model").waitFor();
    await photograph(page, "sampling-tools", cardWidths);
    await send(panel, approval, "Test caller");
    const review = panel.review(sampler);
    await review.getByText("asks for tool calls").waitFor();
    await review.getByRole("checkbox", { name: /: get_time, call 2$/ }).uncheck();
    await edit(review, "Arguments of get_weather, call 1", '{"city": "Oslo"}');
    await photograph(page, "sampling-tool-calls", cardWidths);
    await giveBack(panel, review);
    await approval.getByText(/Weather in Oslo/).waitFor();
    await send(panel, approval, "Test caller");
    await giveBack(panel, review);
    const report = JSON.parse(await returned(panel.call(sampler, "research"))) as {
      rounds: number;
      complaints: readonly string[];
      transcript: readonly unknown[];
    };
    assert.equal(report.rounds, 2);
    assert.deepEqual(report.complaints, []);
    assert.deepEqual(report.transcript[1], {
      role: "assistant",
      content: [
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "call-1", name: "get_weather", input: { city: "Oslo" } },
      ],
    });
    assert.match(JSON.stringify(report.transcript[3]), /You said: .*Weather in Oslo/);
  });
}

/** A request with a picture and a sound, and with a wish for context. */
async function seePicture({ page, panel }: ExtensionWindow): Promise<void> {
  await step("a picture is shown, and what a model does not take is said", async () => {
    await panel.startTool(sampler, "capabilities");
    const { capabilities } = JSON.parse(await returned(panel.call(sampler, "capabilities"))) as {
      capabilities: { sampling: unknown };
    };
    assert.deepEqual(capabilities.sampling, { context: {}, tools: {} });
    await panel.runTool(sampler, "ask_with_picture");
    const approval = panel.approval(sampler);
    await approval.getByRole("img").first().waitFor();
    await approval.getByText(/The server asks for context: .* from sampler/).waitFor();
    await chooseModel(approval.getByLabel("Answered by"), "Test caller");
    await approval.getByText(/does not support: audio\. The request would fail/).waitFor();
    await approval.getByText(/does not support a system prompt/).waitFor();
    await photograph(page, "sampling-picture", cardWidths);
    await approval.getByRole("button", { name: "Decline", exact: true }).click();
    assert.deepEqual(await told(panel, "ask_with_picture", "failed"), {
      error: { code: -1, message: "User rejected sampling request" },
    });
  });
}
