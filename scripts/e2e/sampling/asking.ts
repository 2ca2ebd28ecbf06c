import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { SamplingMessage } from "@assent/protocol";
import { picture, sound } from "../../testservers/sampling/tools/media.mjs";
import { features } from "../../testservers/sampling/versions.mjs";
import type { Scene } from "./scene.ts";
import { approve, assertRefused, now, request, returned, review } from "./told.ts";

/** A text with every member that the tool can set: as received, as edited, and as returned. */
export async function text(scene: Scene): Promise<void> {
  const { frontEnd, models } = scene;
  const call = await frontEnd.callTool("lab", "ask_model", {
    prompt: "What is a fjord?",
    system_prompt: "Be brief.",
    max_tokens: 300,
    temperature: 0.5,
    hint: "plain",
  });
  const asked = await request(scene, call);
  const { samplingRequest, model, modelReason } = asked.question;
  assert.deepEqual(samplingRequest, {
    messages: [says("What is a fjord?")],
    systemPrompt: "Be brief.",
    maxTokens: 300,
    temperature: 0.5,
    modelPreferences: { hints: [{ name: "plain" }] },
  });
  assert.equal(model?.id, "vllm:plain");
  assert.equal(modelReason, 'Your settings prefer vllm. The server asked for "plain".');
  await approve(scene, asked, {
    samplingEdit: {
      messages: [says("What is a lagoon?")],
      systemPrompt: "Be very brief.",
      temperature: 0,
      maxTokens: 100,
    },
  });
  const reviewed = await review(scene, call);
  const { body, ...to } = models.last;
  assert.deepEqual(to, { wire: "vllm", model: "plain" });
  assert.deepEqual(body.messages, [
    { role: "system", content: "Be very brief." },
    { role: "user", content: "What is a lagoon?" },
  ]);
  assert.equal(body["max_tokens"], 100);
  assert.ok(Number(body["temperature"]) < 1e-9, `the temperature is ${body["temperature"]}`);
  const answer = {
    role: "assistant",
    content: { type: "text", text: 'You said: "What is a lagoon?"' },
    model: "model-of-vllm",
    stopReason: "endTurn",
  };
  const response = { type: "response", ...answer, content: [answer.content] };
  assert.deepEqual(reviewed.question.samplingResponse, response);
  assert.equal(now(scene, asked).result, undefined, "the server has it before the review");
  await approve(scene, reviewed);
  assert.deepEqual(await returned(scene, call), { result: answer });
  const { result, usage } = now(scene, asked);
  assert.deepEqual(result, response);
  assert.deepEqual(usage, { inputTokens: 11, outputTokens: 7, cost: 0 });
}

/** Every part arrives unchanged. A part that a model does not support fails, and without it the rest is sent. */
export async function parts(scene: Scene): Promise<void> {
  const { frontEnd, models, way } = scene;
  const { audio, arrays } = features(way.version);
  const words = { type: "text", text: "What do you see, and what do you hear?" } as const;
  const image = { type: "image", data: picture().data, mimeType: "image/png" } as const;
  const blocks = [words, image, ...(audio ? [sound()] : [])];
  const call = await frontEnd.callTool("lab", "ask_with_picture", {});
  const asked = await request(scene, call);
  const { samplingRequest, context } = asked.question;
  assert.deepEqual(samplingRequest, {
    messages: arrays
      ? [{ role: "user", content: blocks }]
      : blocks.map((block) => ({ role: "user", content: [block] })),
    systemPrompt: "You describe what you are given in one sentence.",
    maxTokens: 200,
    temperature: 0,
    stopSequences: ["\n\n", "END"],
    metadata: { purpose: "demonstration", nested: { numbers: [1, 2.5, null] } },
    modelPreferences: {
      hints: [{ name: "claude-sonnet" }, { name: "gpt" }, {}],
      costPriority: 0,
      speedPriority: 0.25,
      intelligencePriority: 1,
    },
    includeContext: "thisServer",
  });
  assert.deepEqual(context?.serverNames, ["lab"]);
  assert.match(context.text, /What is a lagoon\?/, "the call before is not in the context");
  if (audio) {
    // A second call: a refusal is final.
    const loud = await frontEnd.callTool("lab", "ask_with_picture", {});
    const heard = await request(scene, loud);
    await approve(scene, heard, { modelId: "vllm:caller" });
    await assertRefused(scene, loud, {
      code: -32603,
      message: "Sampling failed: the model failed",
    });
    const failed = now(scene, heard).result;
    assert.match(failed?.type === "failure" ? failed.reason : "", /and the request holds audio/);
  }
  const edited = { type: "text", text: "What do you see?" } as const;
  const messages: readonly SamplingMessage[] = arrays
    ? [{ role: "user", content: [edited, image] }]
    : [edited, image].map((block) => ({ role: "user", content: [block] }));
  await approve(scene, asked, {
    modelId: "anthropic:caller",
    samplingEdit: {
      messages,
      maxTokens: 200,
      temperature: 0,
      systemPrompt: samplingRequest.systemPrompt ?? "",
    },
    includeContext: true,
  });
  const reviewed = await review(scene, call, asksBetween(scene, call));
  const sentImage = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: image.data },
  };
  const { wire, body } = models.last;
  assert.equal(wire, "anthropic");
  const added = { role: "user", content: [{ type: "text", text: context.text }] };
  assert.deepEqual(body.messages, [
    added,
    ...(arrays
      ? [{ role: "user", content: [edited, sentImage] }]
      : [edited, sentImage].map((block) => ({ role: "user", content: [block] }))),
  ]);
  const { system, temperature, max_tokens, stop_sequences } = body;
  assert.deepEqual(
    { system, temperature, max_tokens, stop_sequences },
    {
      system: "You describe what you are given in one sentence.",
      temperature: 0,
      max_tokens: 200,
      stop_sequences: ["\n\n", "END"],
    },
  );
  const content = [{ type: "text", text: "I see two colours." }] as const;
  await approve(scene, reviewed, { samplingContent: content });
  assert.deepEqual(await returned(scene, call), {
    result: {
      role: "assistant",
      content: content[0],
      model: "model-of-anthropic",
      stopReason: "endTurn",
    },
  });
}

/** The place of a call's review, when another call asked in between. */
function asksBetween({ frontEnd }: Scene, call: number): number {
  const asks = frontEnd.asksSince(call);
  return asks.filter(({ ask }) => ask.question.type === "mcp_sampling").length;
}

/** Another model answers again, and the person edits its answer. */
export async function anew(scene: Scene): Promise<void> {
  const { frontEnd, models } = scene;
  const call = await frontEnd.callTool("lab", "ask_model", { prompt: "Again?" });
  await approve(scene, await request(scene, call));
  const first = await review(scene, call, 1);
  await frontEnd.respond(first, {
    askResponse: "regenerateButtonClicked",
    modelId: "anthropic:plain",
  });
  const second = await review(scene, call, 2);
  assert.equal(models.last.wire, "anthropic");
  assert.equal(second.question.samplingResponse.model, "model-of-anthropic");
  await approve(scene, second, { samplingContent: [{ type: "text", text: "Once more." }] });
  const { result } = await returned(scene, call);
  assert.deepEqual(result, {
    role: "assistant",
    content: { type: "text", text: "Once more." },
    model: "model-of-anthropic",
    stopReason: "endTurn",
  });
}

/** The capabilities that a server gets for sampling: tools if a model calls them, in every revision. */
export async function capabilities(scene: Scene): Promise<void> {
  for (const [server, declared] of [
    ["lab", { context: {}, tools: {} }],
    ["toolless", { context: {} }],
  ] as const) {
    const call = await scene.frontEnd.callTool(server, "capabilities", {});
    const { capabilities: got, protocolVersion } = await returned<{
      protocolVersion: string;
      capabilities: { sampling: unknown };
    }>(scene, call);
    assert.equal(protocolVersion, scene.way.version);
    assert.ok(isDeepStrictEqual(got.sampling, declared), JSON.stringify(got));
  }
}

function says(words: string): SamplingMessage {
  return { role: "user", content: [{ type: "text", text: words }] };
}
