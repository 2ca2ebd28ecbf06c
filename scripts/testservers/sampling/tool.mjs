// What a tool of this server is: a conversation that needs no transport and no revision.
// @ts-check
import { ToolError, textResult } from "../kit/tool.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 *
 * Who called.
 * @typedef {object} Client
 * @property {import("./versions.mjs").Version} version that both sides speak
 * @property {Json} capabilities
 * @property {Json | undefined} info its name and version
 *
 * @typedef {import("../kit/legacySession.mjs").Outcome} Outcome how a sampling/createMessage ended
 *
 * Yields the params of requests to send at once, gets their outcomes in the same order, and returns a CallToolResult.
 * It must repeat the same conversation each time: in 2026-07-28 every round starts it from the beginning, with the
 * outcomes of the earlier rounds.
 * @typedef {Generator<Json[], Json, Outcome[]>} Conversation
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} description
 * @property {Json} [properties] of its arguments
 * @property {readonly string[]} [required]
 * @property {boolean} [asks] it is not called by a client without sampling
 * @property {(args: Json, client: Client) => Conversation} run
 */

/**
 * Asks for one thing.
 * @param {Json} params
 * @returns {Generator<Json[], Outcome, Outcome[]>}
 */
export function* ask(params) {
  const [outcome] = yield [params];
  if (outcome === undefined) throw new Error("a request has no outcome");
  return outcome;
}

/**
 * A result that is a value as JSON.
 * @param {unknown} value
 * @param {boolean} [isError]
 */
export function jsonResult(value, isError = false) {
  return { ...textResult(JSON.stringify(value)), isError };
}

/**
 * A text among the arguments.
 * @param {Json} args
 * @param {string} name
 */
export function text(args, name) {
  const value = args[name];
  if (typeof value !== "string" || value === "") throw new ToolError(`${name} is missing`);
  return value;
}

/**
 * A message of the user that is a text.
 * @param {string} words
 */
export function says(words) {
  return { role: "user", content: { type: "text", text: words } };
}

/**
 * Whether the client lets a model use tools (2025-11-25, Sampling, Capabilities).
 * @param {Client} client
 */
export function takesTools({ capabilities }) {
  return capabilities["sampling"]?.tools !== undefined;
}
