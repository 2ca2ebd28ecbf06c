// What the tools of every server have in common.
// @ts-check
import { codes, isObject, RpcError } from "./rpc.mjs";

/** @typedef {import("./rpc.mjs").Json} Json */

/** An error of the tool itself: a result with isError, not an error of the protocol. */
export class ToolError extends Error {}

/** @param {string} text */
export function textResult(text) {
  return { content: [{ type: "text", text }] };
}

/**
 * A whole number among the arguments.
 * @param {Json} args
 * @param {string} name
 * @param {number} fallback
 * @param {number} max
 * @param {number} [min]
 */
export function integer(args, name, fallback, max, min = 0) {
  const value = args[name] ?? fallback;
  if (!Number.isInteger(value) || value < min || value > max) {
    const got = JSON.stringify(value);
    throw new ToolError(`${name} is a whole number from ${min} to ${max}, not ${got}`);
  }
  return value;
}

/**
 * The tool that a tools/call names, and its arguments.
 * @template Tool
 * @param {ReadonlyMap<string, Tool>} tools
 * @param {Json} params
 */
export function called(tools, params) {
  const tool = tools.get(String(params["name"]));
  if (tool === undefined) throw new RpcError(codes.invalidParams, `no tool ${params["name"]}`);
  /** @type {Json} */
  const args = isObject(params["arguments"]) ? params["arguments"] : {};
  return { tool, args };
}
