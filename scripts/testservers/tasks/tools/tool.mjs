// What a tool of this server is.
// @ts-check

/**
 * @typedef {import("../rpc.mjs").Json} Json
 * @typedef {import("../job.mjs").Job} Job
 *
 * A call before its work starts.
 * @typedef {object} Call
 * @property {Json} args
 * @property {Json} answers to the earlier questions, by key
 * @property {string | undefined} state what the last `Asking` said
 * @property {AbortSignal} signal
 *
 * Requests that the client serves before it calls again (2026-07-28, Multi Round-Trip Requests).
 * @typedef {object} Asking
 * @property {Record<string, Json>} requests by key
 * @property {string} [state] for the next call
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} [title]
 * @property {string} description
 * @property {Json} [properties] of its arguments
 * @property {readonly string[]} [required] the arguments that it cannot do without
 * @property {Json} [outputSchema] of its structuredContent
 * @property {Json} [annotations] hints: readOnlyHint and others
 * @property {"required" | "optional" | "forbidden"} taskSupport
 * @property {(args: Json) => readonly import("../capabilities.mjs").Need[]} [needs]
 * @property {(call: Call) => Promise<{asking: Asking} | {args: Json}>} [before] what a call needs
 *   before its work starts; with `args`, the work starts with them
 * @property {(task: import("../store.mjs").Task) => void} [prepare] changes a task before anyone
 *   sees it
 * @property {(job: Job, args: Json) => Promise<Json>} run
 */

/**
 * A form for the person (2025-11-25 and 2026-07-28, Elicitation, Form Mode).
 * @param {string} message
 * @param {Json} properties all of them are required
 * @returns {Json}
 */
export function form(message, properties) {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message,
      requestedSchema: { type: "object", properties, required: Object.keys(properties) },
    },
  };
}
