import assert from "node:assert/strict";
import { modernVersion } from "../../testservers/kit/rpc.mjs";
import { type Scene, sampling } from "./scene.ts";
import {
  approve,
  assertRefused,
  request,
  returned,
  review,
  type Told,
  type ToldError,
  textOf,
} from "./told.ts";

/** What the server says of a kind of misbehaviour. */
interface Misbehaved {
  readonly outcomes: readonly Told[];
}

const invalid = (message: string): ToldError => ({ code: -32602, message });

/** The greatest message that is read, in bytes. */
const maxFrame = 16_777_216;

/** Invalid requests, and the error that the server gets for each. */
const broken: Readonly<Record<string, ToldError>> = {
  "empty-messages": invalid("messages is missing or empty"),
  "unknown-role": invalid('messages[0]: role is "system", it must be user or assistant'),
  "unknown-content": invalid(
    "messages[0]: content: must be text, image, audio, tool_use or tool_result",
  ),
  "negative-max-tokens": invalid("maxTokens is -1, it must be at least 1"),
  "bad-base64": invalid(
    "messages[0]: content: data is not base64 after 0 bytes: illegal base64 data at input byte 3",
  ),
  "10000-messages": invalid("messages has 10000 entries, and the limit is 1000"),
  "orphan-tool-result": invalid(
    'messages[1]: content: the tool result "call-1" matches no call in the previous message',
  ),
  "mixed-tool-result": invalid("messages[2]: content: Tool results mixed with other content"),
  "unanswered-tool-use": invalid('messages[2]: content: Tool result missing in request: "call-1"'),
};

/** Every kind of invalid request is refused with its own error, without asking a person. */
export async function breakingRules(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const misbehave = async (server: string, how: string, error: ToldError): Promise<void> => {
    const call = await frontEnd.callTool(server, "misbehave", { how });
    await assertRefused(scene, call, error);
    assert.deepEqual(frontEnd.asksSince(call), [], `${how}: the person was asked`);
  };
  for (const [how, error] of Object.entries(broken)) await misbehave("lab", how, error);
  const undeclared = "tools: the capability sampling.tools was not declared by this client";
  await misbehave("toolless", "tools-undeclared", invalid(undeclared));
}

/** A picture that is greater than the person allows. */
export async function bigPicture(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  await frontEnd.configure({ sampling: { limits: { ...sampling.limits, imageBytes: 500_000 } } });
  const args = { how: "huge-image", bytes: 1_000_000 };
  const call = await frontEnd.callTool("lab", "misbehave", args);
  await assertRefused(scene, call, {
    code: -32000,
    message:
      "the images and sounds have 750000 bytes: the user's setting assent.limits.imageBytes allows 500000",
    data: { limit: "imageBytes", max: 500_000 },
  });
  await frontEnd.configure({});
}

/**
 * An image that is too big to read. A request with it is refused. In a call's answer, the call is lost, but the
 * connection stays.
 */
export async function hugePicture(scene: Scene): Promise<void> {
  const { frontEnd, way } = scene;
  const call = await frontEnd.callTool("lab", "misbehave", { how: "huge-image" });
  const result = await frontEnd.result(call);
  if (way.version !== modernVersion) {
    const { outcomes } = JSON.parse(textOf(result)) as Misbehaved;
    const data = outcomes[0]?.error?.data as { bytes: number } | undefined;
    const bytes = data?.bytes ?? 0;
    assert.ok(bytes > 50_000_000, `it had ${bytes} bytes`);
    const message = `the request has ${bytes} bytes, and no more than ${maxFrame} are read`;
    assert.deepEqual(outcomes, [
      { error: { code: -32000, message, data: { bytes, max: maxFrame } } },
    ]);
  } else {
    assert.equal(result.type, "lost");
    assert.match(
      result.reason,
      /^The answer of the MCP server "lab" has 47.7 MB, and no more than 16 MB are read/,
    );
  }
  assert.deepEqual(frontEnd.asksSince(call), []);
  const next = await frontEnd.callTool("lab", "capabilities", {});
  assert.match(textOf(await frontEnd.result(next)), /"sampling"/);
}

/** As many requests at once as allowed. Further ones are refused at once. */
export async function flood(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const limits = { ...sampling.limits, inFlight: 3 };
  await frontEnd.configure({ sampling: { limits, review: "never" } });
  const call = await frontEnd.callTool("lab", "misbehave", { how: "flood", n: 3 });
  const asks = await Promise.all([0, 1, 2].map((nth) => request(scene, call, nth)));
  const more = await frontEnd.callTool("lab", "misbehave", { how: "flood", n: 1 });
  await assertRefused(scene, more, {
    code: -32000,
    message:
      "3 sampling requests are not answered yet: the user's setting assent.limits.inFlight allows 3",
    data: { limit: "inFlight", max: 3 },
  });
  assert.deepEqual(frontEnd.asksSince(more), []);
  for (const asked of asks) await approve(scene, asked);
  const { outcomes } = await returned<Misbehaved>(scene, call);
  const texts = outcomes.map(({ result }) => JSON.stringify(result));
  for (const n of [1, 2, 3])
    assert.match(texts[n - 1] ?? "", new RegExp(`You said: .*Question ${n}`));
  await frontEnd.configure({});
}

/** More requests than the person allows in a minute: the error says when the server may retry. */
export async function tooOften(scene: Scene): Promise<void> {
  const { frontEnd, way } = scene;
  await frontEnd.configure({ sampling: { limits: { requestsPerMinute: 1 }, review: "never" } });
  const first = await frontEnd.callTool("crowd", "misbehave", { how: "flood", n: 1 });
  await approve(scene, await request(scene, first));
  await returned<Misbehaved>(scene, first);
  const call = await frontEnd.callTool("crowd", "misbehave", { how: "flood", n: 1 });
  const message =
    "2 sampling requests came within a minute: the user's setting assent.limits.requestsPerMinute allows 1";
  if (way.version === modernVersion) {
    await assertRefused(scene, call, { code: -32000, message });
  } else {
    const { outcomes } = await returned<Misbehaved>(scene, call);
    const [outcome] = outcomes;
    const data = outcome?.error?.data as { retryAfterMs?: number } | undefined;
    const retryAfterMs = data?.retryAfterMs ?? 0;
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 60_000, `try again in ${retryAfterMs} ms`);
    assert.deepEqual(outcomes, [
      {
        error: {
          code: -32000,
          message,
          data: { limit: "requestsPerMinute", max: 1, retryAfterMs },
        },
      },
    ]);
  }
  assert.deepEqual(frontEnd.asksSince(call), []);
  await frontEnd.configure({});
}

/** An endless tool loop ends at the person's limit. */
export async function deep(scene: Scene): Promise<void> {
  const { frontEnd, way } = scene;
  const toolRounds = 2;
  await frontEnd.configure({
    sampling: { limits: { ...sampling.limits, toolRounds }, review: "never" },
  });
  const call = await frontEnd.callTool("lab", "misbehave", { how: "deep", n: 10 });
  for (let nth = 0; nth <= toolRounds; nth++) {
    await approve(scene, await request(scene, call, nth), { modelId: "vllm:caller" });
  }
  const error = {
    code: -32000,
    message:
      "the model went to the tools 3 times: the user's setting assent.limits.toolRounds allows 2",
    data: { limit: "toolRounds", max: toolRounds },
  };
  if (way.version === modernVersion) await assertRefused(scene, call, error);
  else assert.deepEqual(await returned(scene, call), { how: "deep", rounds: 4, error });
  assert.equal(frontEnd.asksSince(call).length, 3);
  await frontEnd.configure({});
}

/** What looks like a secret leaves when the person says so, and not before. */
export async function secret(scene: Scene): Promise<void> {
  const { frontEnd, models } = scene;
  const call = await frontEnd.callTool("lab", "misbehave", { how: "secret" });
  const asked = await request(scene, call);
  const { secrets = [], samplingRequest } = asked.question;
  assert.ok(secrets.length > 0, "no secret was found");
  const before = models.prompted.length;
  await assert.rejects(approve(scene, asked), { code: -32105, message: /redact it, or confirm/ });
  assert.equal(frontEnd.shown(asked.messageId).ask.outcome, undefined, "the ask is settled");

  const [message] = samplingRequest.messages ?? [];
  const [block] = message?.content ?? [];
  assert.ok(block?.type === "text");
  const hidden = (from: string): string =>
    secrets.reduce((words, { text }) => words.replaceAll(text, "[redacted]"), from);
  const text = hidden(block.text);
  const messages = [{ role: "user", content: [{ type: "text", text }] }] as const;
  await approve(scene, asked, { samplingEdit: { messages, maxTokens: samplingRequest.maxTokens } });
  await approve(scene, await review(scene, call));
  assert.equal(models.prompted.length, before + 1, "it was sent more than once");
  assert.equal(models.last.body.messages.at(-1)?.content, text);
  const redacted = JSON.stringify((await returned<Misbehaved>(scene, call)).outcomes);
  assert.ok(redacted.includes("[redacted]"), redacted);
  for (const { text } of secrets) assert.ok(!redacted.includes(text), "the secret was sent");

  const again = await frontEnd.callTool("lab", "misbehave", { how: "secret" });
  await approve(scene, await request(scene, again), { confirmSecrets: true });
  await approve(scene, await review(scene, again));
  const confirmed = JSON.stringify((await returned<Misbehaved>(scene, again)).outcomes);
  for (const { text } of secrets) assert.ok(confirmed.includes(text), "it was not sent whole");
}
