import type { CallResult, Message, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { shownArguments } from "../lib/exactJSON.ts";
import { unreachable } from "../lib/unreachable.ts";
import { askMarkdown } from "./askMarkdown.ts";
import { blockOf, fenced, json, oneLine, utc } from "./markdownText.ts";
import { withoutSecrets } from "./secrets.ts";
import { type Entry, timelineOf } from "./timeline.ts";

/**
 * Writes a task's timeline as a Markdown document: every message, call, question, decision and answer. Possible secrets
 * of requests to models are left out everywhere.
 */
export function exportMarkdown(
  { title }: Pick<Task, "title">,
  messages: readonly Message[],
): string {
  const parts = timelineOf(cleaned(messages)).entries.flatMap((entry) => {
    const text = partOf(entry);
    return text === undefined ? [] : [text];
  });
  return `${[`# ${title === "" ? l10n.t("New task") : oneLine(title)}`, ...parts].join("\n\n")}\n`;
}

/** Removes secrets before a text is cut or joined into one line, which would hide them from the search. */
function cleaned(messages: readonly Message[]): readonly Message[] {
  const secrets = messages.flatMap(({ body }) =>
    body.type === "ask" && body.question.type === "mcp_sampling"
      ? (body.question.secrets ?? [])
      : [],
  );
  if (secrets.length === 0) return messages;
  const all = JSON.stringify(messages);
  return JSON.parse(all, (_key, value: unknown) =>
    typeof value === "string" ? withoutSecrets(value, secrets) : value,
  ) as readonly Message[];
}

function partOf({ message: { body, time }, steps, asked }: Entry): string | undefined {
  const at = utc(time);
  switch (body.type) {
    case "user":
      return `## ${l10n.t("You")}\n\n_${at}_\n\n${body.text}`;
    case "attachment":
      return `### ${l10n.t("Attached: {0}", oneLine(body.name))}\n\n_${at}_\n\n${blockOf(body.content)}`;
    case "model": {
      const { model, text = "", toolUses = [] } = body;
      const failed = toolUses.flatMap(({ id, toolName, name, error }) =>
        error === undefined || asked.includes(id)
          ? []
          : [`- ${l10n.t("{0} was not called: {1}", `\`${toolName ?? name}\``, oneLine(error))}`],
      );
      const ending = body.end?.detail === undefined ? [] : [`_${oneLine(body.end.detail)}_`];
      const parts = [text, failed.join("\n"), ...ending].filter((part) => part !== "");
      // A message that has only calls is described by them.
      if (parts.length === 0) return undefined;
      return [`## ${oneLine(model?.name ?? l10n.t("Model"))}\n\n_${at}_`, ...parts].join("\n\n");
    }
    case "notice":
      return [
        `> ${oneLine(body.text)}`,
        ...(body.unavailable ?? []).map(
          ({ serverName, reason }) => `> - ${oneLine(serverName)}: ${oneLine(reason)}`,
        ),
      ].join("\n");
    case "call": {
      const { serverName, request, result } = body;
      const text = "argumentsText" in request ? request.argumentsText : undefined;
      const args =
        "arguments" in request ? [fenced(shownArguments(request.arguments, text), "json")] : [];
      const heading = `### ${calledOf(nameOf(request), oneLine(serverName))}\n\n_${at}_`;
      const ending = result === undefined ? l10n.t("It runs.") : resultOf(result);
      // The result has its own heading, so that it does not look like a part of the last question.
      const end = steps.length === 0 ? [ending] : [`#### ${l10n.t("Result")}`, ending];
      return [heading, ...args, ...steps.map(askMarkdown), ...end].join("\n\n");
    }
    case "ask":
      return steps.map(askMarkdown).join("\n\n");
    default:
      return unreachable(body);
  }
}

function calledOf(name: string, serverName: string): string {
  return l10n.t({
    message: "{0} of {1}",
    args: [name, serverName],
    comment: ["A tool, a resource or a prompt, and its server."],
  });
}

function nameOf(request: Extract<Message["body"], { type: "call" }>["request"]): string {
  switch (request.type) {
    case "tools/call":
      return request.title === undefined
        ? oneLine(request.toolName)
        : `${oneLine(request.title)} (${oneLine(request.toolName)})`;
    case "resources/read":
      return oneLine(request.uri);
    case "prompts/get":
      return oneLine(request.promptName);
    case "tasks/result":
      return l10n.t("MCP task");
    default:
      return unreachable(request);
  }
}

function resultOf(result: CallResult): string {
  switch (result.type) {
    case "result": {
      const { content = [], structuredContent, structuredText, isError = false } = result;
      const parts = [
        ...(isError ? [l10n.t("The tool reported an error:")] : []),
        ...content.map(blockOf),
        ...(content.length === 0 && structuredContent !== undefined
          ? [fenced(structuredText ?? json(structuredContent), "json")]
          : []),
      ];
      return parts.length === 0 ? l10n.t("It returned nothing.") : parts.join("\n\n");
    }
    case "prompt":
      return (result.messages ?? []).map(({ content }) => blockOf(content)).join("\n\n");
    case "error":
      return l10n.t("Error {0}: {1}", result.code, oneLine(result.message));
    case "cancelled":
      return l10n.t("Cancelled before it ended.");
    case "abandoned":
    case "lost":
      return oneLine(result.reason);
    default:
      return unreachable(result);
  }
}
