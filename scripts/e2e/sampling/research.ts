import assert from "node:assert/strict";
import type { ContentBlock } from "@assent/protocol";
import { runModelTool } from "../../testservers/sampling/tools/modelTools.mjs";
import { features } from "../../testservers/sampling/versions.mjs";
import type { Scene } from "./scene.ts";
import { approve, request, returned, review, textOf } from "./told.ts";

/** What the server says of its research. */
interface Report {
  readonly text: string;
  readonly rounds: number;
  readonly stopReason: string;
  readonly transcript: readonly { readonly role: string; readonly content: unknown }[];
  readonly complaints: readonly string[];
}

const question = "What is it like in Paris now?";

/**
 * A tool loop: the model calls two tools at once, the person removes one and changes the other's input, and the server
 * runs the rest.
 */
export async function toolLoop(scene: Scene): Promise<void> {
  const { frontEnd, models, way } = scene;
  const call = await frontEnd.callTool("lab", "research", { question });
  if (!features(way.version).tools) {
    const words = `I cannot research: a model has no tools in ${way.version}.`;
    assert.equal(textOf(await frontEnd.result(call)), words);
    return;
  }
  const asked = await request(scene, call);
  const { tools, toolChoice } = asked.question.samplingRequest;
  assert.deepEqual(
    tools?.map(({ name }) => name),
    ["get_weather", "get_time"],
  );
  assert.deepEqual(toolChoice, { mode: "auto" });
  await approve(scene, asked);
  const calls = await review(scene, call, 1);
  assert.equal(models.last.body.tools?.length, 2);
  const written: readonly ContentBlock[] = [
    { type: "text", text: "Let me look." },
    { type: "tool_use", id: "use-1", name: "get_weather", input: { city: "Paris" } },
    { type: "tool_use", id: "use-2", name: "get_time", input: { zone: "Europe/Paris" } },
  ];
  assert.deepEqual(calls.question.samplingResponse.content, written);
  assert.equal(calls.question.samplingResponse.stopReason, "toolUse");
  const use = {
    type: "tool_use",
    id: "use-1",
    name: "get_weather",
    input: { city: "Oslo" },
  } as const;
  const [words] = written;
  assert.ok(words);
  await approve(scene, calls, { samplingContent: [words, use] });

  const results = await request(scene, call, 2);
  const ran = runModelTool(use);
  assert.deepEqual(results.question.samplingRequest.messages?.at(-1), {
    role: "user",
    content: [ran],
  });
  await approve(scene, results);
  const answer = await review(scene, call, 3);
  const [output] = ran.content;
  assert.ok(output);
  const said = models.last.body.messages.at(-1);
  assert.deepEqual(said, { role: "tool", content: output.text, tool_call_id: "use-1" });
  await approve(scene, answer);

  const report = await returned<Report>(scene, call);
  const text = `You said: ${JSON.stringify(output.text)}`;
  assert.deepEqual(report.complaints, []);
  assert.equal(report.rounds, 2);
  assert.equal(report.stopReason, "endTurn");
  assert.equal(report.text, text);
  assert.deepEqual(report.transcript, [
    { role: "user", content: { type: "text", text: question } },
    { role: "assistant", content: [words, use] },
    { role: "user", content: [ran] },
    { role: "assistant", content: { type: "text", text } },
  ]);
}

/** Without all its calls an answer is a text like any other, or the server would look for them. */
export async function noCallLeft(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const call = await frontEnd.callTool("lab", "research", { question });
  await approve(scene, await request(scene, call));
  await review(scene, call, 1).then((shown) =>
    approve(scene, shown, { samplingContent: [{ type: "text", text: "It rains." }] }),
  );
  const report = await returned<Report>(scene, call);
  assert.deepEqual(
    { text: report.text, rounds: report.rounds, stopReason: report.stopReason },
    { text: "It rains.", rounds: 1, stopReason: "endTurn" },
  );
  assert.deepEqual(report.complaints, []);
}

/** A server without models that call tools does not get that capability, and does not try. */
export async function withoutTools(scene: Scene): Promise<void> {
  const call = await scene.frontEnd.callTool("toolless", "research", { question });
  const result = await scene.frontEnd.result(call);
  assert.equal(
    textOf(result),
    features(scene.way.version).tools
      ? "I cannot research: your client did not declare sampling.tools."
      : `I cannot research: a model has no tools in ${scene.way.version}.`,
  );
}
