// What the server asks the person before it deletes, and what the answer means.
// @ts-check
import { line } from "./risk.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("./users.mjs").Plan} Plan
 *
 * @typedef {{yes: true, reason: string, backup: boolean}} Confirmed
 * @typedef {object} Refused
 * @property {false} yes
 * @property {"declined" | "cancelled" | "not_confirmed" | "not_asked"} outcome
 * @property {string} why a sentence
 */

const shortestReason = 5;
const longestReason = 500;

/**
 * @param {Plan} plan
 * @param {import("./risk.mjs").Risk} risk
 * @returns {Json}
 */
export function askPerson({ count, total, days, withOrders, examples }, risk) {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message: `Delete ${users(count)} of ${total}, who did not log in for ${days} days?

Risk: ${risk.level} (${risk.reason.replace(/\.$/, "")}).
${withOrders} of them have orders. Among them:
${examples.map((user) => line({ ...user, email: `\`${user["email"]}\`` })).join("\n")}`,
      requestedSchema: {
        type: "object",
        properties: {
          confirm: {
            type: "boolean",
            title: `Delete ${users(count)}`,
            description: "Nothing is deleted unless this is on.",
            default: false,
          },
          reason: {
            type: "string",
            title: "Reason",
            description: "It is kept in the audit entry.",
            minLength: shortestReason,
            maxLength: longestReason,
          },
          keep_backup: {
            type: "boolean",
            title: "Keep a backup",
            description: "Without one the deletion cannot be undone.",
            default: true,
          },
        },
        required: ["confirm", "reason"],
      },
    },
  };
}

/**
 * Parses the answer. Anything but a clear yes is a no.
 * @param {Json | undefined} answer of the client: a result, or `{error}`
 * @returns {Confirmed | Refused}
 */
export function readPerson(answer) {
  if (answer?.["error"] !== undefined) {
    return no(
      "not_asked",
      `You could not be asked (${String(answer["error"].message).slice(0, 300)}).`,
    );
  }
  const { action, content } = answer ?? {};
  if (action === "decline") return no("declined", "You declined.");
  if (action === "cancel") return no("cancelled", "The question was dismissed.");
  if (action !== "accept") return no("not_asked", "The client's answer could not be read.");
  if (content?.confirm !== true) return no("not_confirmed", "You did not tick the confirmation.");
  const reason = typeof content.reason === "string" ? content.reason.trim() : "";
  if (reason.length < shortestReason || reason.length > longestReason) {
    const size = `${shortestReason} to ${longestReason} characters`;
    return no("not_confirmed", `You gave no reason of ${size}.`);
  }
  // Only a person who says so gives up the backup.
  return { yes: true, reason, backup: content.keep_backup !== false };
}

/** @param {number} count */
export function users(count) {
  return count === 1 ? "1 user" : `${count} users`;
}

/**
 * @param {Refused["outcome"]} outcome
 * @param {string} why
 * @returns {Refused}
 */
function no(outcome, why) {
  return { yes: false, outcome, why };
}
