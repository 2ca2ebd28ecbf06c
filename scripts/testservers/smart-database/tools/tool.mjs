// What the tools of this server have in common.
// @ts-check
import { integer, textResult } from "../../kit/tool.mjs";

/** @typedef {import("../../kit/rpc.mjs").Json} Json */

const mostDays = 36_500;

/** The argument that says who is inactive. */
export const days = {
  type: "integer",
  title: "Days without a login",
  description: "Two years, where nothing else was asked for.",
  minimum: 1,
  maximum: mostDays,
  default: 730,
};

/**
 * The days among the arguments. Only a missing argument has the default: null is refused.
 * @param {Json} args
 */
export function daysOf({ inactive_for_days: value = 730 }) {
  return integer({}, "inactive_for_days", value, mostDays, 1);
}

/**
 * A result for people and models, and for programs.
 * @param {string} text
 * @param {Json} structuredContent
 */
export function told(text, structuredContent) {
  return { ...textResult(text), structuredContent };
}

/**
 * Rows as a Markdown table. Their data must not become markup.
 * @param {readonly Json[]} rows with the same members
 */
export function table(rows) {
  const [first] = rows;
  if (first === undefined) return "(none)";
  const names = Object.keys(first);
  const row = (/** @type {readonly unknown[]} */ cells) => `| ${cells.map(cell).join(" | ")} |`;
  return [
    row(names),
    row(names.map(() => "---")),
    ...rows.map((values) => row(names.map((name) => values[name]))),
  ].join("\n");
}

/** @param {unknown} value */
function cell(value) {
  if (value === "---") return value;
  return String(value)
    .replace(/\s+/g, " ")
    .replace(/[\\|`*[\]<>]/g, "\\$&");
}
