import assert from "node:assert/strict";
import type { Shown } from "../frontEnd.ts";
import { beginning, type Fault, wires } from "./models.ts";
import type { Scene } from "./scene.ts";
import {
  approve,
  assertRefused,
  now,
  type Requested,
  request,
  returned,
  review,
  userRejected,
} from "./told.ts";

const dismissed = {
  code: -1,
  message: "User dismissed the sampling request without an answer",
};

/** A person refuses: before a model is asked, and after it has answered. */
export async function refused(scene: Scene): Promise<void> {
  const { frontEnd, models } = scene;
  const sent = models.prompted.length;
  for (const [askResponse, reason, error] of [
    ["noButtonClicked", "declined", userRejected],
    ["cancelButtonClicked", "dismissed", dismissed],
  ] as const) {
    const call = await frontEnd.callTool("lab", "ask_model", { prompt: "May I?" });
    const asked = await request(scene, call);
    await frontEnd.respond(asked, { askResponse });
    await assertRefused(scene, call, error);
    assert.equal(frontEnd.shown(asked.messageId).ask.outcome?.reason, reason);
  }
  assert.equal(models.prompted.length, sent, "a model was asked");

  const call = await frontEnd.callTool("lab", "ask_model", { prompt: "And now?" });
  const asked = await request(scene, call);
  await approve(scene, asked);
  await frontEnd.respond(await review(scene, call), { askResponse: "noButtonClicked" });
  await assertRefused(scene, call, userRejected);
  const reason = "The answer was not returned to the server.";
  assert.deepEqual(now(scene, asked).result, { type: "withheld", reason });
}

/** Waits until the slow model has written the beginning. */
export async function begun(scene: Scene, asked: Shown): Promise<void> {
  await scene.frontEnd.until("the beginning of the story", () => {
    const { progress } = now(scene, asked);
    return progress?.text === beginning || undefined;
  });
}

/** Asks the slow model, and waits until it has written the beginning. */
export async function slowAnswer(scene: Scene): Promise<{ call: number; asked: Requested }> {
  const { frontEnd } = scene;
  const call = await frontEnd.callTool("lab", "ask_model", { prompt: "Tell me a story." });
  const asked = await request(scene, call);
  await approve(scene, asked, { modelId: "vllm:slow" });
  await begun(scene, asked);
  return { call, asked };
}

/** A person stops the model: the server gets the text so far, or nothing. */
export async function stopped(scene: Scene): Promise<void> {
  const { frontEnd, models } = scene;
  const before = models.stopped;
  const kept = await slowAnswer(scene);
  await frontEnd.stopModel(kept.asked, true);
  await models.untilStopped(before + 1);
  await approve(scene, await review(scene, kept.call));
  assert.deepEqual(await returned(scene, kept.call), {
    result: {
      role: "assistant",
      content: { type: "text", text: beginning },
      model: kept.asked.question.model?.name.replace("caller", "slow"),
      stopReason: "userStopped",
    },
  });

  const { call, asked } = await slowAnswer(scene);
  await frontEnd.stopModel(asked, false);
  await models.untilStopped(before + 2);
  await assertRefused(scene, call, userRejected);
  assert.equal(now(scene, asked).result?.type, "withheld");
  assert.equal(frontEnd.asksSince(call).length, 1, "there was a review");
}

/** The error of a faulty model, as the person reads it. */
const faults: Readonly<Record<Fault, RegExp>> = {
  rubbish: /sent what cannot be read: invalid character 't'/,
  cut: /ended its answer in the middle/,
  empty: /gave an empty answer/,
  busy: /takes no more requests for now: Come back later \(try again in 7s\)/,
  gone: /closed the connection without an answer/,
};

/** A model fails: the person reads how and where, the server that it did. */
export async function failing(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  for (const wire of wires) {
    for (const [fault, words] of Object.entries(faults)) {
      const call = await frontEnd.callTool("lab", "ask_model", { prompt: "Are you well?" });
      const asked = await request(scene, call);
      await approve(scene, asked, { modelId: `${wire}:${fault}` });
      await assertRefused(scene, call, {
        code: -32603,
        message: "Sampling failed: the model failed",
      });
      const { result } = now(scene, asked);
      assert.ok(result?.type === "failure", JSON.stringify(result));
      const failure = `${wire}, ${fault}: ${result.reason}`;
      assert.match(result.reason, words, failure);
      assert.match(result.reason, /^the model failed: /, failure);
      assert.equal(frontEnd.asksSince(call).length, 1, "there was a review");
    }
  }
}
