// A tool that lets the model use tools of its own (2025-11-25, client/sampling, Multi-turn Tool Loop).
// @ts-check
import { integer, ToolError } from "../../kit/tool.mjs";
import { ask, jsonResult, says, takesTools, text } from "../tool.mjs";
import { features } from "../versions.mjs";
import { modelTools, runModelTool } from "./modelTools.mjs";

/** @typedef {import("../tool.mjs").Json} Json */

/** @type {import("../tool.mjs").Tool} */
export const research = {
  name: "research",
  description: "Asks the model, which may ask for the weather and the time in between.",
  asks: true,
  properties: {
    question: { type: "string", title: "Question" },
    rounds: { type: "integer", title: "Most rounds", minimum: 1, maximum: 50, default: 5 },
    max_tokens: { type: "integer", title: "Most tokens a round", minimum: 1, default: 1000 },
  },
  required: ["question"],
  *run(args, client) {
    const rounds = integer(args, "rounds", 5, 50, 1);
    const maxTokens = integer(args, "max_tokens", 1000, Number.MAX_SAFE_INTEGER, 1);
    if (!features(client.version).tools) {
      throw new ToolError(`I cannot research: a model has no tools in ${client.version}.`);
    }
    if (!takesTools(client)) {
      throw new ToolError("I cannot research: your client did not declare sampling.tools.");
    }
    /** @type {Json[]} */
    const messages = [says(text(args, "question"))];
    /** @type {string[]} */
    const complaints = [];
    for (let round = 1; ; round++) {
      const mode = round === rounds ? "none" : "auto";
      const request = {
        messages: [...messages],
        tools: modelTools,
        toolChoice: { mode },
        maxTokens,
      };
      const outcome = yield* ask(request);
      if ("error" in outcome) {
        return jsonResult({ ...outcome, rounds: round, transcript: messages, complaints }, true);
      }
      const { role, content, model, stopReason } = outcome.result;
      messages.push({ role, content });
      const uses = blocks(content).filter(({ type }) => type === "tool_use");
      complaints.push(
        ...complaintsOf(outcome.result, uses, mode).map((it) => `round ${round}: ${it}`),
      );
      if (uses.length === 0 || mode === "none") {
        const end = { text: textOf(content), model, stopReason, rounds: round };
        return jsonResult({ ...end, transcript: messages, complaints });
      }
      // A message with results holds nothing else, and every call is answered in it.
      messages.push({ role: "user", content: uses.map(runModelTool) });
    }
  },
};

/**
 * Describes the problem in a result.
 * @param {Json} result
 * @param {readonly Json[]} uses
 * @param {"auto" | "none"} mode
 */
function complaintsOf({ role, stopReason }, uses, mode) {
  const ids = new Set(uses.map(({ id }) => id));
  return [
    role !== "assistant" && `the role is ${role}`,
    uses.length > 0 && stopReason !== "toolUse" && `it stopped for ${stopReason} with tool_use`,
    uses.length === 0 && stopReason === "toolUse" && "it stopped for toolUse without one",
    uses.length > 0 && mode === "none" && "the model called tools, which it was told not to",
    ids.size < uses.length && "two calls have the same id",
  ].filter((complaint) => complaint !== false);
}

/**
 * Content is one block or an array of them.
 * @param {unknown} content
 * @returns {Json[]}
 */
function blocks(content) {
  const all = Array.isArray(content) ? content : [content];
  return all.filter((block) => typeof block === "object" && block !== null);
}

/** @param {unknown} content */
function textOf(content) {
  return blocks(content)
    .filter(({ type }) => type === "text")
    .map((block) => block["text"])
    .join("\n");
}
