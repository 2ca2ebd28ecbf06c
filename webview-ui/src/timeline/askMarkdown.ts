import type {
  Ask,
  Field,
  McpElicitation,
  McpSampling,
  McpSamplingRequest,
  McpSamplingReview,
  Outcome,
  UseMcpTool,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { parseExact, shownArguments, writeExact } from "../lib/exactJSON.ts";
import { unreachable } from "../lib/unreachable.ts";
import { answersOf } from "./fieldText.ts";
import { lineOf, permissionSaid } from "./line.ts";
import { blockOf, fenced, oneLine, utc } from "./markdownText.ts";
import { answererOf } from "./sampling.ts";
import type { Step } from "./timeline.ts";

/** Writes an ask: who asked what and when, the edits, who decided, and the answer. */
export function askMarkdown(step: Step): string {
  const { ask, message } = step;
  const { question, outcome } = ask;
  const line = lineOf(step);
  return [
    `#### ${headingOf(ask)}`,
    `_${utc(message.time)}_`,
    ...questionOf(question),
    line === undefined || outcome === undefined
      ? `**${l10n.t("It waits for an answer.")}**`
      : `**${oneLine(line.words)}** _(${settledBy(outcome)})_`,
    ...[outcome?.detail, outcome?.undelivered].flatMap((text = "") =>
      text === "" ? [] : [oneLine(text)],
    ),
    ...answerOf(step),
  ].join("\n\n");
}

function headingOf({ question }: Ask): string {
  const server = oneLine(question.serverName);
  switch (question.type) {
    case "mcp_elicitation":
      return l10n.t("{0} asked you", server);
    case "mcp_url_elicitation":
      return l10n.t("{0} asked you to open a page", server);
    case "mcp_sampling":
      return l10n.t("{0} asked a model", server);
    case "mcp_sampling_review":
      return l10n.t("{0} was waiting for an answer", server);
    case "use_mcp_tool":
      return question.fromApp === true
        ? l10n.t("An app asked for {0} of {1}", oneLine(question.tool.name), server)
        : l10n.t("The model asked for {0} of {1}", oneLine(question.tool.name), server);
    case "access_mcp_resource":
      return l10n.t("The model asked for {0} of {1}", oneLine(question.uri), server);
    case "repeat_mcp_call":
      return l10n.t("A call of {0} failed", server);
    case "host_permission":
      return l10n.t("{0} asked for your permission", server);
    default:
      return unreachable(question);
  }
}

function settledBy({ by, at }: Outcome): string {
  return by === undefined ? utc(at) : l10n.t("in {0}, {1}", oneLine(by), utc(at));
}

/** The complete question. */
function questionOf(question: Ask["question"]): readonly string[] {
  switch (question.type) {
    case "mcp_elicitation":
      return [quoted(question.elicitationRequest.message), ...fieldsOf(question)];
    case "mcp_url_elicitation":
      return [quoted(question.message), fenced(question.url, "")];
    case "mcp_sampling":
      return requestOf(question.samplingRequest);
    case "mcp_sampling_review":
      return [
        l10n.t("{0} wrote:", oneLine(answererOf(question.model, question.samplingResponse))),
        ...(question.samplingResponse.content ?? []).map(blockOf),
      ];
    case "use_mcp_tool":
      return [fenced(shownArguments(question.arguments, question.argumentsText), "json")];
    case "access_mcp_resource":
      return [];
    case "repeat_mcp_call":
      return [quoted(question.reason)];
    case "host_permission":
      return [
        ...(question.command === undefined ? [] : [fenced(question.command, "sh")]),
        ...(question.plan === undefined ? [] : [quoted(question.plan)]),
        fenced(writeExact(parseExact(question.input), 2), "json"),
      ];
    default:
      return unreachable(question);
  }
}

function fieldsOf({ elicitationRequest: { fields = [] } }: McpElicitation): readonly string[] {
  if (fields.length === 0) return [];
  return [[l10n.t("It asked for:"), ...fields.map((field) => `- ${fieldOf(field)}`)].join("\n")];
}

function fieldOf(field: Field): string {
  const { name, title = "", description = "", required = false } = field;
  const options =
    field.type === "choice" || field.type === "choices"
      ? ` (${(field.options ?? []).map(({ value, title: label = "" }) => oneLine(label || value)).join(", ")})`
      : "";
  const about = description === "" ? "" : `: ${oneLine(description)}`;
  const must = required ? ` *${l10n.t("required")}*` : "";
  return `${oneLine(title || name)}${options}${must}${about}`;
}

/** A request with its system prompt, messages and limits. */
function requestOf(request: McpSamplingRequest): readonly string[] {
  const { systemPrompt = "", messages = [], maxTokens, temperature, tools = [] } = request;
  const limits = [
    l10n.t("At most {0} tokens", maxTokens),
    ...(temperature === undefined ? [] : [l10n.t("temperature {0}", temperature)]),
    ...(tools.length === 0
      ? []
      : [l10n.t("with the tools {0}", tools.map(({ name }) => oneLine(name)).join(", "))]),
  ];
  return [
    ...(systemPrompt === "" ? [] : [`${l10n.t("System prompt")}:`, fenced(systemPrompt, "")]),
    ...messages.flatMap(({ role, content = [] }) => [
      `${role === "user" ? l10n.t("User") : l10n.t("Assistant")}:`,
      ...content.map(blockOf),
    ]),
    `${limits.join(", ")}.`,
  ];
}

/** The text that was finally sent or returned, if the line of the decision does not show all of it. */
function answerOf({ ask: { question }, reviewed, told }: Step): readonly string[] {
  switch (question.type) {
    case "mcp_elicitation": {
      const answers = answersOf(question);
      if (answers.length === 0) return [];
      return [answers.map(({ title, text }) => `- ${title}: ${oneLine(text)}`).join("\n")];
    }
    case "mcp_sampling":
      return sentOf(question, reviewed);
    case "mcp_sampling_review":
      return returnedOf(question);
    case "use_mcp_tool":
      return [...argumentsOf(question), ...toldOf(told)];
    case "access_mcp_resource":
      return toldOf(told);
    case "mcp_url_elicitation":
    case "repeat_mcp_call":
      return [];
    case "host_permission":
      return permissionSaid(question).map(oneLine);
    default:
      return unreachable(question);
  }
}

function sentOf({ sentRequest, result, model }: McpSampling, reviewed: boolean): readonly string[] {
  return [
    ...(sentRequest === undefined
      ? []
      : [l10n.t("You changed the request to:"), ...requestOf(sentRequest)]),
    ...(result?.type === "response" && !reviewed
      ? [
          l10n.t("{0} wrote:", oneLine(answererOf(model, result))),
          ...(result.content ?? []).map(blockOf),
        ]
      : []),
    ...(result?.type === "failure" || result?.type === "withheld" ? [oneLine(result.reason)] : []),
  ];
}

function returnedOf({ sentResponse }: McpSamplingReview): readonly string[] {
  if (sentResponse === undefined) return [];
  return [l10n.t("You changed the answer to:"), ...(sentResponse.content ?? []).map(blockOf)];
}

function argumentsOf({ sentArguments }: UseMcpTool): readonly string[] {
  if (sentArguments === undefined) return [];
  const text = shownArguments(sentArguments, undefined);
  return [l10n.t("You changed the arguments to:"), fenced(text, "json")];
}

function toldOf(told: string | undefined): readonly string[] {
  return told === undefined ? [] : [l10n.t("The model was told: {0}", oneLine(told))];
}

/** A foreign text, set apart from Assent's own. */
function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}
