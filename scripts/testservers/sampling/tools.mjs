// All tools, and what every revision does alike with them.
// @ts-check
import { called, ToolError, textResult } from "../kit/tool.mjs";
import { askModel, askWithPicture, capabilities } from "./tools/ask.mjs";
import { misbehave } from "./tools/misbehave.mjs";
import { research } from "./tools/research.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("./tool.mjs").Client} Client
 * @typedef {import("./tool.mjs").Conversation} Conversation
 * @typedef {import("./tool.mjs").Outcome} Outcome
 * @typedef {import("./tool.mjs").Tool} Tool
 */

/** @type {ReadonlyMap<string, Tool>} */
const tools = new Map(
  [askModel, askWithPicture, research, misbehave, capabilities].map((tool) => [tool.name, tool]),
);

/** The result of tools/list. */
export function listTools() {
  return {
    tools: [...tools.values()].map(({ name, description, properties = {}, required = [] }) => ({
      name,
      description,
      inputSchema: { type: "object", properties, required },
    })),
  };
}

/**
 * Begins what a tools/call asks for; throws `missing` where the client lacks what the tool needs.
 * @param {Json} params
 * @param {Client} client
 * @param {Error} missing
 * @returns {Conversation}
 */
export function begin(params, client, missing) {
  const { tool, args } = called(tools, params);
  if (tool.asks && client.capabilities["sampling"] === undefined) throw missing;
  return tool.run(args, client);
}

/**
 * Goes on with a conversation; what the tool itself finds wrong becomes its result.
 * @param {Conversation} conversation
 * @param {Outcome[]} [outcomes] of the requests before; none at the beginning
 * @returns {IteratorResult<Json[], Json>}
 */
export function step(conversation, outcomes = []) {
  try {
    return conversation.next(outcomes);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { done: true, value: { ...textResult(error.message), isError: true } };
  }
}
