import assert from "node:assert/strict";
import type { Scene } from "./scene.ts";

/** The milliseconds of each of a journey's nine steps. */
export const stepMs = 40;

/** What the example server says that it asked and was answered. */
interface Told {
  readonly asked: number;
  readonly answered: number;
  readonly answer: unknown;
}

/** Checks a finished journey: each question was asked once, answered once, and no step done again. */
export async function assertPlanned(scene: Scene, call: number, kills: number): Promise<void> {
  const result = await scene.frontEnd.result(call);
  assert.equal(result.type, "result", JSON.stringify(result));
  const { steps, told } = result.structuredContent as {
    steps: number;
    told: Record<string, Told>;
  };
  assert.equal(steps, 9, "a step was done again");
  const answers = {
    day: { action: "accept", content: { day: "monday" } },
    seat: { action: "accept", content: { seat: "window" } },
  };
  assert.deepEqual(Object.keys(told), Object.keys(answers));
  for (const [key, answer] of Object.entries(answers)) {
    const { asked, answered, answer: got } = told[key] ?? { asked: 0, answered: 0, answer: {} };
    const { _meta, ...rest } = got as Record<string, unknown>;
    assert.deepEqual(rest, answer);
    assert.equal(answered, 1, `${key} was answered ${answered} times`);
    // A server of 2025-11-25 asks by a request: it has to ask again on the next connection.
    const most = scene.setup.era === "legacy" ? 1 + kills : 1;
    assert.ok(asked >= 1 && asked <= most, `${key} was asked ${asked} times`);
  }
  const shown = scene.frontEnd.asksSince(call);
  assert.equal(shown.length, 2, `the person was asked ${shown.length} times`);
  for (const { ask } of shown) assert.equal(ask.outcome?.reason, "answered");
}

/** Answers both questions of a journey, each once its status is visible. */
async function answerBoth(frontEnd: Scene["frontEnd"], call: number): Promise<void> {
  const questions = ["Which day do you want to travel?", "Window or aisle?"];
  for (const [nth, question] of questions.entries()) {
    const shown = await frontEnd.ask(call, nth);
    await frontEnd.status(call, `input_required: ${question}`);
    await frontEnd.answer(shown);
  }
}

/** A journey without failures, during which each status that lasts is visible. */
export async function plain(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const args = { step_ms: stepMs };
  const call = await frontEnd.callTool("journeys", "plan_journey", args);
  await frontEnd.begun(call);
  await answerBoth(frontEnd, call);
  await assertPlanned(scene, call, 0);
  // The steps of this one go on after the questions, until it is cancelled.
  const slow = await frontEnd.callTool("journeys", "plan_journey", { ...args, booking_ms: 60_000 });
  await answerBoth(frontEnd, slow);
  await frontEnd.status(slow, "working: Booking (1 of 3)");
  await frontEnd.cancelCall(slow);
  assert.deepEqual(await frontEnd.result(slow), { type: "cancelled" });
  // Tasks of the other revision have no progress.
  if (scene.setup.era === "modern") return;
  const progress = frontEnd.progress.get(call) ?? [];
  assert.ok(progress.length > 0, "there was no progress");
}

/**
 * A journey that asks the model, too. The sidecar is killed while the answer waits for review: it is
 * there to be reviewed after that, and neither the person nor the model is asked for it again.
 */
export async function withModel(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const args = { step_ms: stepMs, ask_model: true };
  const call = await frontEnd.callTool("journeys", "plan_journey", args);
  for (const nth of [0, 1, 2]) await frontEnd.answer(await frontEnd.ask(call, nth));
  const before = await frontEnd.ask(call, 3);
  await frontEnd.kill();
  await frontEnd.start();
  const review = await frontEnd.ask(call, 3);
  // For how long the server waits is known to the sidecar alone that it asked.
  const { waitsUntil: _, ...asked } = before.ask;
  assert.deepEqual(review, { ...before, ask: asked });
  await frontEnd.answer(review);
  const result = await frontEnd.result(call);
  assert.equal(result.type, "result", JSON.stringify(result));
  const { tip } = (result.structuredContent as { told: Record<string, Told> }).told;
  assert.equal(tip?.answered, 1);
  assert.match(JSON.stringify(tip), /"role":"assistant"/);
  const shown = frontEnd.asksSince(call).map(({ ask }) => ask.question.type);
  assert.deepEqual(shown.slice(2), ["mcp_sampling", "mcp_sampling_review"]);
}

/** A person ends a journey while it asks. */
export async function cancelled(scene: Scene): Promise<void> {
  const { frontEnd, server } = scene;
  const call = await frontEnd.callTool("journeys", "plan_journey", { step_ms: stepMs });
  await frontEnd.ask(call, 0);
  await frontEnd.cancelCall(call);
  assert.deepEqual(await frontEnd.result(call), { type: "cancelled" });
  const [shown, ...more] = frontEnd.asksSince(call);
  // A legacy server also withdraws its request, in a separate message, which may come first.
  const withdrawn = scene.setup.era === "legacy" ? ["serverStoppedWaiting"] : [];
  const reason = shown?.ask.outcome?.reason ?? "open";
  assert.ok(["callEnded", ...withdrawn].includes(reason), reason);
  assert.equal(more.length, 0);
  const { task } = frontEnd.call(call);
  assert.equal(task?.status, "cancelled");
  assert.equal((await server.record(task.taskId)).status, "cancelled");
}
