// The server's question to the model about a deletion, and the parsing of its answer. The person decides in any case,
// and an unreadable answer is reported as such.
// @ts-check

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("./users.mjs").Plan} Plan
 *
 * @typedef {object} Risk
 * @property {"LOW" | "MEDIUM" | "HIGH" | "UNKNOWN"} level
 * @property {string} reason
 */

/** Characters of a model's sentence, and of its note, that are kept. */
const longestSentence = 300;
const longestNote = 1000;
/** Lines of an answer in which a level is looked for. */
const mostLines = 50;

/**
 * @param {Plan} plan
 * @returns {Json}
 */
export function askRisk(plan) {
  return {
    method: "sampling/createMessage",
    params: {
      systemPrompt:
        "You classify the risk of deleting rows from a database. Answer with one line: LOW, MEDIUM or HIGH, a colon, and one sentence that says why.",
      messages: [
        user(`How risky is it to delete these users?\n\n${factsOf(plan)}

Examples of them:
${plan.examples.map(line).join("\n")}`),
      ],
      maxTokens: 120,
      temperature: 0,
      // A short classification, for which a person waits.
      modelPreferences: { intelligencePriority: 0.3, speedPriority: 0.8, costPriority: 0.8 },
    },
  };
}

/**
 * Parses the model's answer: a level, in any case and markup, and the rest of its line. A level within a sentence does
 * not count as the answer.
 * @param {Json | undefined} answer of the client: a result, or `{error}`; undefined if it was not asked
 * @returns {Risk}
 */
export function readRisk(answer) {
  if (answer === undefined) return unknown("this client has no model to ask");
  if (answer["error"] !== undefined) {
    return unknown(`the model was not asked: ${clip(answer["error"].message, longestSentence)}`);
  }
  const said = textOf(answer);
  const found =
    said
      .split("\n", mostLines)
      .map(levelOf)
      .find((level) => level !== null) ?? null;
  if (found === null) {
    return unknown(said === "" ? "the model said nothing" : `the model said ${quoted(said)}`);
  }
  const level = /** @type {Risk["level"]} */ (String(found[1]).toUpperCase());
  const reason = clip(String(found[2]).replace(/^[\s*_`"':.,–—-]+/, ""), longestSentence);
  return { level, reason: reason || "the model gave no reason" };
}

/**
 * The level that a line begins with. The line is cut, for the pattern takes quadratic time.
 * @param {string} line
 */
function levelOf(line) {
  return /^[\s*_`#>"'-]*(?:risk(?: level)?[*_`\s]*[:=-])?[\s*_`"'-]*(low|medium|high)\b(.*)/i.exec(
    line.slice(0, 2 * longestSentence),
  );
}

/**
 * @param {Plan} plan
 * @param {Risk} risk
 * @param {string} reason
 * @param {boolean} backup
 * @returns {Json}
 */
export function askNote(plan, risk, reason, backup) {
  return {
    method: "sampling/createMessage",
    params: {
      systemPrompt:
        "You write audit notes of a database: two sentences at most, facts only, no greeting.",
      messages: [
        user(`Write the audit note for this deletion, which a person has confirmed.

${factsOf(plan)}
Risk: ${risk.level}
Reason: ${reason}
Backup kept: ${backup ? "yes" : "no"}`),
      ],
      maxTokens: 200,
      temperature: 0,
    },
  };
}

/**
 * The model's note, or a plain one: an entry without a model's words is better than no entry.
 * @param {Json | undefined} answer as of readRisk
 * @param {Plan} plan
 * @param {string} reason
 */
export function readNote(answer, plan, reason) {
  const [paragraph = ""] = answer === undefined ? [] : textOf(answer).split(/\n\s*\n/);
  const text = clip(paragraph, longestNote);
  const by = clip(String(answer?.["model"] ?? "an unnamed model"), 100);
  if (text !== "") return { text, by };
  return {
    text: `${plan.count} users without a login for ${plan.days} days were deleted. Reason: ${reason}`,
    by: "smart-database",
  };
}

/** @param {Plan} plan */
function factsOf({ count, total, days, withOrders }) {
  return `Users to delete: ${count} of ${total}
Last login: more than ${days} days ago
With orders: ${withOrders}`;
}

/**
 * A user on one line. In Markdown, a plain address would become a link.
 *
 * @param {Json} user
 */
export function line({ name, email, orders, last_login }) {
  return `- ${name} (${email}), last login ${String(last_login).slice(0, 10)}, ${orders} orders`;
}

/**
 * The texts of an answer. In some revisions its content is one block, in others an array of them.
 * @param {Json} answer
 */
function textOf(answer) {
  const blocks = [answer["content"] ?? []].flat();
  const texts = blocks.map((block) => (block?.type === "text" ? String(block.text ?? "") : ""));
  return texts.join("\n").trim();
}

/**
 * @param {string} reason
 * @returns {Risk}
 */
function unknown(reason) {
  return { level: "UNKNOWN", reason };
}

/** @param {string} text */
function user(text) {
  return { role: "user", content: { type: "text", text } };
}

/** @param {string} text */
function quoted(text) {
  return JSON.stringify(clip(text, 100));
}

/**
 * One line of at most so many characters.
 * @param {unknown} text
 * @param {number} most
 */
function clip(text, most) {
  const characters = [...String(text).replace(/\s+/g, " ").trim()];
  return characters.length > most
    ? `${characters.slice(0, most - 1).join("")}…`
    : characters.join("");
}
