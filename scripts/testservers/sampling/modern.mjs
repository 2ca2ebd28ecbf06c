// The revision 2026-07-28: a tool's requests are the result of its tools/call, which the client makes
// again with the answers (basic/patterns/mrtr). A client that will not answer does not call again, so
// that no tool ever hears of an error.
// @ts-check
import { missingCapability } from "../kit/meta.mjs";
import { cacheable, discovered } from "../kit/modern.mjs";
import { codes, isObject, meta, modernVersion, RpcError } from "../kit/rpc.mjs";
import { serverInfo } from "./serverInfo.mjs";
import { begin, listTools, step } from "./tools.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("./tool.mjs").Outcome} Outcome
 */

/**
 * The result of a request; undefined for an unknown method.
 * @param {string} method
 * @param {Json} params
 * @param {Json} capabilities the client's, for this request
 * @returns {Json | undefined}
 */
export function answerModern(method, params, capabilities) {
  switch (method) {
    case "server/discover":
      return discovered(serverInfo);
    case "tools/list":
      return { ...listTools(), ...cacheable };
    case "tools/call":
      return call(params, capabilities);
    default:
      return undefined;
  }
}

/**
 * Follows the conversation to the first round that is not answered yet.
 * @param {Json} params
 * @param {Json} capabilities
 */
function call(params, capabilities) {
  /** @type {import("./tool.mjs").Client} */
  const client = {
    version: modernVersion,
    capabilities,
    info: params["_meta"][meta.clientInfo],
  };
  const answers = answersSoFar(params);
  const conversation = begin(params, client, missingCapability({ sampling: {} }));
  let next = step(conversation);
  for (let round = 1; !next.done; round++) {
    const keys = next.value.map((_, i) => `round-${round}-${i + 1}`);
    if (!keys.every((key) => Object.hasOwn(answers, key)))
      return inputRequired(next.value, keys, answers);
    /** @type {Outcome[]} */
    const outcomes = keys.map((key) => ({ result: answers[key] }));
    next = step(conversation, outcomes);
  }
  return next.value;
}

/**
 * @param {readonly Json[]} requests
 * @param {readonly string[]} keys of them
 * @param {Json} answers to those before
 */
function inputRequired(requests, keys, answers) {
  const open = requests.flatMap((params, i) => {
    const key = keys[i] ?? "";
    // What one round answered in part is not asked again.
    return Object.hasOwn(answers, key) ? [] : [[key, { method: "sampling/createMessage", params }]];
  });
  return {
    resultType: "input_required",
    inputRequests: Object.fromEntries(open),
    requestState: Buffer.from(JSON.stringify(answers)).toString("base64"),
  };
}

/**
 * All answers of the client, by key: those of the rounds before are in the state. It is not signed: it
 * holds no more than what the client itself says, and a client that changes it fools itself.
 * @param {Json} params
 * @returns {Json}
 */
function answersSoFar(params) {
  const { inputResponses = {}, requestState } = params;
  if (!isObject(inputResponses)) {
    throw new RpcError(codes.invalidParams, "inputResponses is no object");
  }
  if (requestState === undefined) return inputResponses;
  let before;
  try {
    before = JSON.parse(Buffer.from(String(requestState), "base64").toString("utf8"));
  } catch {
    before = undefined;
  }
  if (!isObject(before)) {
    throw new RpcError(codes.invalidParams, "requestState is none of this server's");
  }
  return { ...before, ...inputResponses };
}
