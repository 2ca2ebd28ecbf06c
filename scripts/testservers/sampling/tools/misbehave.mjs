// Invalid requests, one kind each. It also sends requests to clients that did not declare sampling.
// @ts-check
import { createHash } from "node:crypto";
import { integer, ToolError } from "../../kit/tool.mjs";
import { ask, jsonResult, says, takesTools } from "../tool.mjs";
import { picture } from "./media.mjs";
import { modelTools, runModelTool } from "./modelTools.mjs";

/**
 * @typedef {import("../tool.mjs").Json} Json
 * @typedef {import("../tool.mjs").Client} Client
 * @typedef {import("../tool.mjs").Outcome} Outcome
 */

const maxTokens = 100;
const hello = says("Say hello.");

/** A call that some model made, and its answer. */
const use = { type: "tool_use", id: "call-1", name: "get_weather", input: { city: "Paris" } };
const called = { role: "assistant", content: [use] };
const returned = { role: "user", content: [runModelTool(use)] };

/**
 * The requests of each kind, which are sent at once.
 * @type {Record<string, (args: Json, client: Client) => Json[]>}
 */
const kinds = {
  "empty-messages": () => [{ messages: [], maxTokens }],
  "unknown-role": () => [{ messages: [{ ...hello, role: "system" }], maxTokens }],
  "unknown-content": () => [{ messages: [user({ type: "hologram", data: "AAAA" })], maxTokens }],
  "negative-max-tokens": () => [{ messages: [hello], maxTokens: -1 }],
  "bad-base64": () => [{ messages: [user({ ...picture(), data: "not*base64!" })], maxTokens }],
  "huge-image": (args) => {
    const bytes = integer(args, "bytes", 50_000_000, 200_000_000, 1);
    const data = Buffer.alloc(Math.floor((bytes * 3) / 4), Buffer.from(picture().data, "base64"));
    return [{ messages: [user({ ...picture(), data: data.toString("base64") })], maxTokens }];
  },
  "10000-messages": () => [
    {
      messages: Array.from({ length: 10_000 }, (_, i) => ({
        ...says(`Message ${i + 1}`),
        role: i % 2 === 0 ? "user" : "assistant",
      })),
      maxTokens,
    },
  ],
  "orphan-tool-result": (_args, client) => [withTools(client, [hello, returned])],
  "mixed-tool-result": (_args, client) => [
    withTools(client, [
      hello,
      called,
      { role: "user", content: [...returned.content, { type: "text", text: "And hurry." }] },
    ]),
  ],
  "unanswered-tool-use": (_args, client) => [
    withTools(client, [hello, called, says("Never mind the weather.")]),
  ],
  // It is misbehaviour only towards a client without sampling.tools.
  "tools-undeclared": () => [{ messages: [hello], tools: modelTools, maxTokens }],
  flood: (args) =>
    Array.from({ length: integer(args, "n", 100, 10_000, 1) }, (_, i) => ({
      messages: [says(`Question ${i + 1}`)],
      maxTokens,
    })),
  // What a careless server would send on: keys of the shape of Amazon's, which are no keys. Nothing
  // in this file looks like one.
  secret: () => {
    const id = ["AKIA", "Z7QK", "4M2X", "P6TL", "W3VB"].join("");
    const key = createHash("sha256").update("this is no key").digest("base64").slice(0, 40);
    const words = `Why is this refused?\naws_access_key_id = ${id}\naws_secret_access_key = ${key}`;
    return [{ messages: [says(words)], maxTokens }];
  },
};

/** @type {import("../tool.mjs").Tool} */
export const misbehave = {
  name: "misbehave",
  description: "Asks the model in a way that breaks the rules, and returns what it was told.",
  properties: {
    how: { type: "string", title: "How", enum: [...Object.keys(kinds), "deep"] },
    n: { type: "integer", title: "Requests of flood, rounds of deep", minimum: 1, maximum: 10_000 },
    bytes: { type: "integer", title: "Size of huge-image", minimum: 1, default: 50_000_000 },
  },
  required: ["how"],
  *run(args, client) {
    const how = String(args["how"]);
    if (how === "deep") return jsonResult({ how, ...(yield* deep(args)) });
    const requests = Object.hasOwn(kinds, how) ? kinds[how] : undefined;
    if (requests === undefined) throw new ToolError(`I do not know how to misbehave by ${how}.`);
    return jsonResult({ how, outcomes: yield requests(args, client) });
  },
};

/**
 * A tool loop that never ends by itself: every answer of the model is followed by another tool call, for as many rounds
 * as are allowed.
 * @param {Json} args
 * @returns {Generator<Json[], Json, Outcome[]>}
 */
function* deep(args) {
  const rounds = integer(args, "n", 25, 10_000, 1);
  /** @type {Json[]} */
  const messages = [hello];
  for (let round = 1; round <= rounds; round++) {
    const toolChoice = { mode: "required" };
    const request = { messages: [...messages], tools: modelTools, toolChoice, maxTokens };
    const outcome = yield* ask(request);
    if ("error" in outcome) return { rounds: round, ...outcome };
    const again = { ...use, id: `call-${round}` };
    messages.push({ role: "assistant", content: [again] });
    messages.push({ role: "user", content: [runModelTool(again)] });
  }
  return { rounds };
}

/** @param {Json} block */
function user(block) {
  return { role: "user", content: block };
}

/**
 * A request with a history of tool calls, and the tools if the client supports them, so that only the history is
 * invalid.
 * @param {Client} client
 * @param {Json[]} messages
 */
function withTools(client, messages) {
  return { messages, ...(takesTools(client) && { tools: modelTools }), maxTokens };
}
