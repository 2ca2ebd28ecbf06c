// The tools that ask once, as the specification shows it, and the one that does not ask.
// @ts-check

import { integer } from "../../kit/tool.mjs";
import { ask, jsonResult, says, text } from "../tool.mjs";
import { features } from "../versions.mjs";
import { picture, sound } from "./media.mjs";

/**
 * @typedef {import("../tool.mjs").Json} Json
 * @typedef {import("../tool.mjs").Outcome} Outcome
 */

const limit = { type: "integer", title: "Most tokens", minimum: 1, default: 500 };

/** @type {import("../tool.mjs").Tool} */
export const askModel = {
  name: "ask_model",
  description: "Asks the model, and returns what the client answered.",
  asks: true,
  properties: {
    prompt: { type: "string", title: "Prompt" },
    system_prompt: { type: "string", title: "System prompt" },
    max_tokens: limit,
    temperature: { type: "number", title: "Temperature" },
    hint: { type: "string", title: "A part of a model's name" },
  },
  required: ["prompt"],
  *run(args) {
    const { system_prompt: systemPrompt, temperature, hint } = args;
    const outcome = yield* ask({
      messages: [says(text(args, "prompt"))],
      maxTokens: integer(args, "max_tokens", 500, Number.MAX_SAFE_INTEGER, 1),
      ...(systemPrompt !== undefined && { systemPrompt }),
      ...(temperature !== undefined && { temperature }),
      ...(hint !== undefined && { modelPreferences: { hints: [{ name: hint }] } }),
    });
    return asIs(outcome);
  },
};

/** @type {import("../tool.mjs").Tool} */
export const askWithPicture = {
  name: "ask_with_picture",
  description: "Asks the model about a picture and a sound, with every member that a request has.",
  asks: true,
  *run(_args, { version }) {
    const has = features(version);
    const blocks = [
      { type: "text", text: "What do you see, and what do you hear?" },
      picture(),
      ...(has.audio ? [sound()] : []),
    ];
    const messages = has.arrays
      ? [{ role: "user", content: blocks }]
      : blocks.map((content) => ({ role: "user", content }));
    const outcome = yield* ask({
      messages,
      systemPrompt: "You describe what you are given in one sentence.",
      maxTokens: 200,
      // Zero is a temperature; it is not the absence of one.
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
    return asIs(outcome);
  },
};

/** @type {import("../tool.mjs").Tool} */
export const capabilities = {
  name: "capabilities",
  description: "Returns what the client said of itself: its revision, name and capabilities.",
  // biome-ignore lint/correctness/useYield: a conversation without a question
  *run(_args, client) {
    const { version: protocolVersion, info: clientInfo } = client;
    return jsonResult({ protocolVersion, clientInfo, capabilities: client.capabilities });
  },
};

/** @param {Outcome} outcome */
function asIs(outcome) {
  return jsonResult(outcome, "error" in outcome);
}
