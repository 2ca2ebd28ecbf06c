import type { ContentBlock, McpSamplingRequest, ModelFacts } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { money } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";

// The sidecar measures requests in the same way to check a grant's bounds, so both show the same numbers. They are
// rough estimates, not a bill.
const bytesOfToken = 4; // text in most languages
const tokensOfTurn = 4; // the words around each message
const tokensOfImage = 1500; // an image of a megapixel; larger ones are scaled down
const charactersOfSound = 1000; // base64 characters for one token of audio, at the bit rates of speech

/** Estimates the tokens that a model reads in a request: its texts, images, audio and tools. */
export function estimateTokens(request: McpSamplingRequest): number {
  const { systemPrompt = "", messages = [], tools = [] } = request;
  const turns = messages.map(({ content = [] }) => tokensOfTurn + sum(content.map(ofBlock)));
  const offers = tools.map(
    ({ name, description = "", inputSchema }) =>
      tokensOfTurn + ofText(name) + ofText(description) + ofJson(inputSchema),
  );
  return ofText(systemPrompt) + sum(turns) + sum(offers);
}

function ofBlock(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return ofText(block.text);
    case "image":
      return tokensOfImage;
    case "audio":
      return Math.floor(block.data.length / charactersOfSound) + 1;
    case "tool_use":
      return ofText(block.name) + ofJson(block.input);
    case "tool_result":
      return sum((block.content ?? []).map(ofBlock));
    default:
      return 0; // the model does not get it
  }
}

const encoder = new TextEncoder();

function ofText(text: string): number {
  return Math.ceil(encoder.encode(text).length / bytesOfToken);
}

function ofJson(value: unknown): number {
  return ofText(JSON.stringify(value) ?? "");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

/** Estimates the highest cost of a request in US dollars; undefined if a price is unknown. */
export function mostCost(
  request: McpSamplingRequest,
  { inputCost, outputCost }: ModelFacts,
): number | undefined {
  if (inputCost === undefined || outputCost === undefined) return undefined;
  const cost = (estimateTokens(request) * inputCost + request.maxTokens * outputCost) / 1_000_000;
  return Number.isFinite(cost) && cost >= 0 ? cost : undefined;
}

/** Summarises a request in one line, with its possible cost if the answering model is known. */
export function summarize(request: McpSamplingRequest, facts: ModelFacts = {}): string {
  const { messages = [], systemPrompt = "", tools = [], maxTokens } = request;
  const blocks = blocksOf(request);
  const of = (type: ContentBlock["type"], one: string, many: string) => {
    const n = blocks.filter((block) => block.type === type).length;
    return n === 0 ? [] : [plural(n, one, many)];
  };
  return [
    plural(messages.length, l10n.t("1 message"), l10n.t("{0} messages")),
    ...(systemPrompt === "" ? [] : [l10n.t("a system prompt")]),
    [
      ...of("image", l10n.t("1 image"), l10n.t("{0} images")),
      ...of("audio", l10n.t("1 audio clip"), l10n.t("{0} audio clips")),
    ].join(", "),
    tools.length === 0
      ? ""
      : plural(tools.length, l10n.t("1 tool offered"), l10n.t("{0} tools offered")),
    [
      ...of("tool_use", l10n.t("1 tool call"), l10n.t("{0} tool calls")),
      ...of("tool_result", l10n.t("1 tool result"), l10n.t("{0} tool results")),
    ].join(", "),
    plural(estimateTokens(request), l10n.t("about 1 token"), l10n.t("about {0} tokens")),
    plural(maxTokens, l10n.t("at most 1 token back"), l10n.t("at most {0} tokens back")),
    costWords(mostCost(request, facts)),
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

function costWords(cost: number | undefined): string {
  if (cost === undefined) return "";
  // "Free" and "less than a cent" are upper bounds already.
  return cost < 0.01 ? money(cost) : l10n.t("at most about {0}", money(cost));
}

/** The contents of all messages, including tool results. */
export function blocksOf({ messages = [] }: McpSamplingRequest): readonly ContentBlock[] {
  return messages
    .flatMap(({ content = [] }) => content)
    .flatMap((block): readonly ContentBlock[] =>
      block.type === "tool_result" ? [block, ...(block.content ?? [])] : [block],
    );
}
