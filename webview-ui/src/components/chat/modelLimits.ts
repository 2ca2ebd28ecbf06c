import type { McpSamplingRequest, Model, RequestPart } from "@assent/protocol";
import { blocksOf } from "./samplingMeasure.ts";

/**
 * What will not be as the server wrote it where this model answers: a sentence for each fate, about the
 * parts that the request has.
 */
export function warningsOf(request: McpSamplingRequest, model: Model): readonly string[] {
  const present = partsOf(request);
  const cannot = new Set(model.cannot);
  if (model.images === false) cannot.add("images");
  if (model.tools === false) cannot.add("tools");
  const some = (parts: ReadonlySet<RequestPart>, among: readonly RequestPart[]) =>
    among.filter((part) => parts.has(part) && present.has(part));

  const failing = some(cannot, ["images", "audio", "tools"]);
  const omitted = some(cannot, ["maxTokens", "temperature", "stopSequences"]);
  const ignored = some(new Set(model.mayIgnore), allParts).filter((part) => !cannot.has(part));
  const { name } = model;
  return [
    ...(failing.length > 0
      ? [`${name} cannot take: ${list(failing)}. The request would fail: choose another model.`]
      : []),
    ...(omitted.length > 0
      ? [`${name} cannot take: ${list(omitted)}. ${pronoun(omitted)} left out.`]
      : []),
    ...(cannot.has("systemPrompt") && present.has("systemPrompt")
      ? [`${name} takes no system prompt. It is sent as a first message of the user.`]
      : []),
    ...(ignored.length > 0 ? [`${name} may ignore: ${list(ignored)}.`] : []),
  ];
}

const names: Readonly<Record<RequestPart, string>> = {
  systemPrompt: "the system prompt",
  maxTokens: "the maximum of tokens",
  temperature: "the temperature",
  stopSequences: "stop sequences",
  images: "pictures",
  audio: "sound",
  tools: "tools",
};

const allParts = Object.keys(names) as readonly RequestPart[];

function partsOf(request: McpSamplingRequest): ReadonlySet<RequestPart> {
  const { systemPrompt = "", temperature, stopSequences = [], tools = [] } = request;
  const blocks = blocksOf(request);
  const has = (type: string) => blocks.some((block) => block.type === type);
  return new Set<RequestPart>([
    "maxTokens",
    ...(systemPrompt === "" ? [] : (["systemPrompt"] as const)),
    ...(temperature === undefined ? [] : (["temperature"] as const)),
    ...(stopSequences.length === 0 ? [] : (["stopSequences"] as const)),
    ...(has("image") ? (["images"] as const) : []),
    ...(has("audio") ? (["audio"] as const) : []),
    ...(tools.length > 0 || has("tool_use") || has("tool_result") ? (["tools"] as const) : []),
  ]);
}

function list(parts: readonly RequestPart[]): string {
  return parts.map((part) => names[part]).join(", ");
}

function pronoun([first, ...others]: readonly RequestPart[]): string {
  return others.length === 0 && first !== "stopSequences" ? "It is" : "They are";
}
