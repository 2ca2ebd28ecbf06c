import assert from "node:assert/strict";
import { slowAnswer } from "./refusing.ts";
import type { Scene } from "./scene.ts";
import { approve, now, request, returned, review } from "./told.ts";

/** The server cancels what it asked for, because its call was: while the person reads, and while a model writes. */
export async function cancelled(scene: Scene): Promise<void> {
  const { frontEnd, models } = scene;
  const open = await frontEnd.callTool("lab", "ask_model", { prompt: "Never mind?" });
  const asked = await request(scene, open);
  await frontEnd.cancelCall(open);
  assert.deepEqual(await frontEnd.result(open), { type: "cancelled" });
  await settled(scene, asked.messageId, "serverStoppedWaiting");

  const before = models.stopped;
  const slow = await slowAnswer(scene);
  await frontEnd.cancelCall(slow.call);
  await models.untilStopped(before + 1);
  assert.deepEqual(await frontEnd.result(slow.call), { type: "cancelled" });
  await failed(scene, slow.asked.messageId);
}

/** The sidecar is killed while the person reads, and closed with its window while a model writes. */
export async function ended(scene: Scene): Promise<void> {
  const { frontEnd, models } = scene;
  const open = await frontEnd.callTool("lab", "ask_model", { prompt: "Are you there?" });
  const asked = await request(scene, open);
  await frontEnd.kill();
  await frontEnd.start();
  await lost(scene, open);
  await settled(scene, asked.messageId, "restarted");

  const before = models.stopped;
  const slow = await slowAnswer(scene);
  await frontEnd.stop();
  await models.untilStopped(before + 1);
  await frontEnd.start();
  await lost(scene, slow.call);
  await failed(scene, slow.asked.messageId);

  const next = await frontEnd.callTool("lab", "ask_model", { prompt: "And now?" });
  await approve(scene, await request(scene, next));
  await approve(scene, await review(scene, next));
  assert.match(JSON.stringify(await returned(scene, next)), /And now\?/);
}

async function settled(scene: Scene, messageId: number, reason: string): Promise<void> {
  const { frontEnd } = scene;
  const outcome = await frontEnd.until("the end of the ask", () => {
    return frontEnd.shown(messageId).ask.outcome;
  });
  assert.equal(outcome.reason, reason);
}

/** An approved request that no model answered says so. */
async function failed(scene: Scene, messageId: number): Promise<void> {
  const shown = scene.frontEnd.shown(messageId);
  const result = await scene.frontEnd.until("the end of the request", () => {
    return now(scene, shown).result;
  });
  assert.equal(result.type, "failure", JSON.stringify(result));
}

async function lost({ frontEnd }: Scene, call: number): Promise<void> {
  const result = await frontEnd.result(call);
  assert.equal(result.type, "lost", JSON.stringify(result));
}
