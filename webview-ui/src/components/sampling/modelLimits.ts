import type { McpSamplingRequest, Model, RequestPart } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { blocksOf } from "./samplingMeasure.ts";

/**
 * Says what this model does not support of a request, in a sentence for each consequence. It mentions only parts that
 * the request has.
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
      ? [
          l10n.t(
            "{0} does not support: {1}. The request would fail. Choose another model.",
            name,
            list(failing),
          ),
        ]
      : []),
    ...(omitted.length > 0
      ? [
          isOne(omitted)
            ? l10n.t("{0} does not support: {1}. It is left out.", name, list(omitted))
            : l10n.t("{0} does not support: {1}. They are left out.", name, list(omitted)),
        ]
      : []),
    ...(cannot.has("systemPrompt") && present.has("systemPrompt")
      ? [
          l10n.t(
            "{0} does not support a system prompt. It is sent as the first user message.",
            name,
          ),
        ]
      : []),
    ...(ignored.length > 0 ? [l10n.t("{0} may ignore: {1}.", name, list(ignored))] : []),
  ];
}

const names: Readonly<Record<RequestPart, () => string>> = {
  systemPrompt: () => l10n.t("the system prompt"),
  maxTokens: () => l10n.t("the maximum of tokens"),
  temperature: () => l10n.t("the temperature"),
  stopSequences: () => l10n.t("stop sequences"),
  images: () => l10n.t("images"),
  audio: () => l10n.t("audio"),
  tools: () => l10n.t("tools"),
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
  return parts.map((part) => names[part]()).join(", ");
}

function isOne([first, ...others]: readonly RequestPart[]): boolean {
  return others.length === 0 && first !== "stopSequences";
}
