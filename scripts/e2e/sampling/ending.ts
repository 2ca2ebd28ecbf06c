import assert from "node:assert/strict";
import { modernVersion } from "../../testservers/kit/rpc.mjs";
import { begun, slowAnswer } from "./refusing.ts";
import type { Scene } from "./scene.ts";
import { approve, now, request, returned, review } from "./told.ts";

/** The server cancels its request because its call was cancelled: while the person reads, and while a model writes. */
export async function cancelled(scene: Scene): Promise<void> {
  const { frontEnd, models } = scene;
  const open = await frontEnd.callTool("lab", "ask_model", { prompt: "Never mind?" });
  const asked = await request(scene, open);
  await frontEnd.cancelCall(open);
  assert.deepEqual(await frontEnd.result(open), { type: "cancelled" });
  await settled(scene, asked.messageId, "callEnded");

  const before = models.stopped;
  const slow = await slowAnswer(scene);
  await frontEnd.cancelCall(slow.call);
  await models.untilStopped(before + 1);
  assert.deepEqual(await frontEnd.result(slow.call), { type: "cancelled" });
  await failed(scene, slow.asked.messageId);
}

/**
 * The sidecar is killed while the person reads, and closed with its window while a model writes. A
 * request by itself ends with it; one in a result, as 2026-07-28 has them, goes on with the next.
 */
export async function ended(scene: Scene): Promise<void> {
  const { frontEnd, models, way } = scene;
  const goesOn = way.version === modernVersion;
  const open = await frontEnd.callTool("lab", "ask_model", { prompt: "Are you there?" });
  const asked = await request(scene, open);
  await frontEnd.kill();
  await frontEnd.start();
  if (goesOn) {
    assert.deepEqual(frontEnd.shown(asked.messageId).ask.outcome, undefined);
    await finish(scene, open, /Are you there\?/);
  } else {
    await lost(scene, open);
    await settled(scene, asked.messageId, "restarted");
  }

  const before = models.stopped;
  const slow = await slowAnswer(scene);
  await frontEnd.stop();
  await models.untilStopped(before + 1);
  await frontEnd.start();
  if (goesOn) {
    // The approved request is not asked again, but the model is.
    await begun(scene, slow.asked);
    await frontEnd.stopModel(slow.asked, true);
    await approve(scene, await review(scene, slow.call));
    assert.match(JSON.stringify(await returned(scene, slow.call)), /userStopped/);
  } else {
    await lost(scene, slow.call);
    await failed(scene, slow.asked.messageId);
  }

  const next = await frontEnd.callTool("lab", "ask_model", { prompt: "And now?" });
  await finish(scene, next, /And now\?/);
}

/** Approves a call's request, and lets its server have the answer. */
async function finish(scene: Scene, call: number, words: RegExp): Promise<void> {
  await approve(scene, await request(scene, call));
  await approve(scene, await review(scene, call));
  assert.match(JSON.stringify(await returned(scene, call)), words);
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
