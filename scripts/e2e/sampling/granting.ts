import assert from "node:assert/strict";
import type { Scene } from "./scene.ts";
import { approve, now, request, returned, review } from "./told.ts";

/** The person allows the next requests with the first, within bounds, and ends that again. */
export async function granted(scene: Scene): Promise<void> {
  const { frontEnd, models } = scene;
  const ask = (prompt: string): Promise<number> =>
    frontEnd.callTool("lab", "ask_model", { prompt });
  const first = await ask("One?");
  const terms = { serverName: "lab", toolName: "ask_model", models: ["vllm:*"], maxRequests: 3 };
  await approve(scene, await request(scene, first), { grant: { ...terms, review: false } });
  await returned(scene, first);

  const second = await ask("Two?");
  assert.match(JSON.stringify(await returned(scene, second)), /You said: .*Two\?/);
  const [allowed, ...more] = frontEnd.asksSince(second);
  assert.ok(allowed && more.length === 0, "the person was asked more than nothing");
  const { outcome } = allowed.ask;
  assert.equal(outcome?.reason, "granted");
  assert.equal(now(scene, allowed).result?.type, "response");

  const { entries = [] } = await frontEnd.request("policy/list", undefined);
  const grant = entries.find((entry) => entry.type === "grant")?.grant;
  assert.ok(grant);
  assert.equal(grant.id, outcome.grantId);
  assert.equal(grant.spent.requests, 2);
  assert.ok(grant.spent.tokens > 0, "no token was counted");
  await frontEnd.request("grant/revoke", { grantId: grant.id });

  const sent = models.prompted.length;
  const third = await ask("Three?");
  const asked = await request(scene, third);
  assert.equal(asked.ask.outcome, undefined);
  assert.equal(models.prompted.length, sent, "a model was asked without a person");
  await approve(scene, asked);
  await approve(scene, await review(scene, third));
  await returned(scene, third);
}

/** A grant is no way around what a person has to see: a secret is asked about. */
export async function grantedSecret(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const { id } = await frontEnd.request("grant/create", {
    serverName: "lab",
    models: ["*"],
    maxRequests: 10,
  });
  const call = await frontEnd.callTool("lab", "misbehave", { how: "secret" });
  const asked = await request(scene, call);
  assert.equal(asked.ask.outcome, undefined, "it was sent");
  assert.ok(asked.question.grantReason, "the person is not told why they are asked");
  await frontEnd.request("grant/revoke", { grantId: id });
  await frontEnd.respond(asked, { askResponse: "noButtonClicked" });
  await frontEnd.result(call);
}
