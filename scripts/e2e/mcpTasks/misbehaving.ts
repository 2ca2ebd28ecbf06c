import assert from "node:assert/strict";
import type { CallResult } from "@assent/protocol";
import type { Scene } from "./scene.ts";

/** Lies that are no reason for a person to lose the result. */
const harmless = [
  "ttl_zero",
  "ttl_null",
  "poll_1ms",
  "poll_year",
  "vanishes",
  "no_result_type",
  "wrong_clock",
];

/** The server breaks the rules in every way that it knows, in many jobs at a time. */
export async function misbehaving(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const start = async (kind: string): Promise<number> =>
    await frontEnd.callTool("journeys", "misbehave", { kind, step_ms: 1 });
  const endless = await start("never_ends");
  await Promise.all(
    harmless.map(async (kind) => {
      const result = await frontEnd.result(await start(kind));
      assert.equal(textOf(result), `Misbehaved: ${kind}.`, JSON.stringify(result));
    }),
  );
  assert.equal(frontEnd.call(endless).result, undefined);
  await frontEnd.cancelCall(endless);
  assert.deepEqual(await frontEnd.result(endless), { type: "cancelled" });
}

/** A result that is too great for a message: the call ends, and says why. */
export async function huge(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const args = { kind: "huge_result", step_ms: 1, bytes: 16 * 1024 * 1024 };
  const result = await frontEnd.result(await frontEnd.callTool("journeys", "misbehave", args));
  assert.equal(result.type, "lost");
  assert.match(
    result.reason,
    /^The answer of the MCP server "journeys" has 16.0 MB, and no more than 16 MB are read/,
  );
  const next = await frontEnd.callTool("journeys", "quick", {});
  assert.equal(textOf(await frontEnd.result(next)), "That was quick.");
}

/** Two questions under one key: the rules of 2026-07-28 make the second the first. */
export async function sameKeyTwice(scene: Scene): Promise<void> {
  const { frontEnd, setup } = scene;
  const args = { kind: "same_key_twice", step_ms: 1 };
  const call = await frontEnd.callTool("journeys", "misbehave", args);
  await frontEnd.answer(await frontEnd.ask(call, 0));
  if (setup.era === "legacy") {
    await frontEnd.answer(await frontEnd.ask(call, 1)); // this one has no keys
    const answers = JSON.parse(textOf(await frontEnd.result(call)) ?? "") as { content: unknown }[];
    const contents = answers.map(({ content }) => content);
    assert.deepEqual(contents, [{ first: "text" }, { second: "text" }]);
    return;
  }
  const result = await frontEnd.result(call);
  assert.equal(result.type, "abandoned", JSON.stringify(result));
  assert.match(result.reason, /same/);
  assert.equal(frontEnd.asksSince(call).length, 1);
}

function textOf(result: CallResult): string | undefined {
  const [block] = result.type === "result" ? (result.content ?? []) : [];
  return block?.type === "text" ? block.text : undefined;
}
