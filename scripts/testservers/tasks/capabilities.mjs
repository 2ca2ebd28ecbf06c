// What a client must be able to do before a tool may ask it.
// @ts-check
import { missingCapability } from "../kit/meta.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {"form" | "url" | "sampling"} Need
 */

/**
 * Whether a client with these capabilities serves the need. An empty `elicitation` means forms.
 * @param {Json} capabilities
 * @param {Need} need
 */
export function serves(capabilities, need) {
  const { elicitation, sampling } = capabilities;
  switch (need) {
    case "form":
      return elicitation !== undefined && (elicitation.form || !elicitation.url);
    case "url":
      return elicitation?.url !== undefined;
    case "sampling":
      return sampling !== undefined;
  }
}

/**
 * The need that a request to the client has.
 * @param {Json} request
 * @returns {Need}
 */
export function needOf(request) {
  if (request["method"] === "sampling/createMessage") return "sampling";
  return request["params"].mode === "url" ? "url" : "form";
}

/**
 * Throws MissingRequiredClientCapability (2026-07-28, basic, `_meta`) unless every need is served.
 * @param {Json} capabilities
 * @param {readonly Need[]} needs
 */
export function demand(capabilities, needs) {
  const missing = needs.filter((need) => !serves(capabilities, need));
  if (missing.length === 0) return;
  /** @type {Json} */
  const required = {};
  for (const need of missing) {
    if (need === "sampling") required["sampling"] = {};
    else required["elicitation"] = { ...required["elicitation"], [need]: {} };
  }
  throw missingCapability(required);
}
