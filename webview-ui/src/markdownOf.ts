import type { CallResult, ContentBlock, Message, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { shownArguments } from "./components/form/exactJSON.ts";
import { unreachable } from "./unreachable.ts";

/** Writes a task as a document in Markdown: its messages, calls, asks and answers, in their order. */
export function markdownOf({ title }: Pick<Task, "title">, messages: readonly Message[]): string {
  const parts = messages.flatMap((message) => {
    const text = partOf(message);
    return text === undefined ? [] : [text];
  });
  return `${[`# ${title === "" ? l10n.t("New task") : oneLine(title)}`, ...parts].join("\n\n")}\n`;
}

function partOf({ body, time }: Message): string | undefined {
  const at = new Date(time).toISOString();
  switch (body.type) {
    case "user":
      return `## ${l10n.t("You")}\n\n_${at}_\n\n${body.text}`;
    case "attachment":
      return `### ${l10n.t("Attached: {0}", oneLine(body.name))}\n\n_${at}_\n\n${blockOf(body.content)}`;
    case "model": {
      const { model, text = "", toolUses = [] } = body;
      const failed = toolUses.flatMap(({ toolName, name, error }) =>
        error === undefined
          ? []
          : [`- ${l10n.t("{0} was not called: {1}", `\`${toolName ?? name}\``, oneLine(error))}`],
      );
      const ending = body.end?.detail === undefined ? [] : [`_${oneLine(body.end.detail)}_`];
      const parts = [text, failed.join("\n"), ...ending].filter((part) => part !== "");
      // A message that is nothing but calls is told by them.
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
      return [heading, ...args, result === undefined ? l10n.t("It runs.") : resultOf(result)].join(
        "\n\n",
      );
    }
    case "ask": {
      const { question, outcome } = body;
      const what = question.type.replaceAll("_", " ");
      return `> ${oneLine(question.serverName)}, ${what}: ${outcome?.reason ?? "open"}.`;
    }
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
      return oneLine(request.toolName);
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
      const { content = [], structuredContent, isError = false } = result;
      const parts = [
        ...(isError ? [l10n.t("The tool says that it failed:")] : []),
        ...content.map(blockOf),
        ...(content.length === 0 && structuredContent !== undefined
          ? [fenced(json(structuredContent), "json")]
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

/** Binary content is named and not written, because people read the document. */
function blockOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return fenced(block.text, "");
    case "image":
    case "audio":
      return `(${block.type}, ${oneLine(block.mimeType)})`;
    case "resource_link":
      return `(${oneLine(block.name)}: ${oneLine(block.uri)})`;
    case "resource":
      return block.resource.text === undefined
        ? `(${oneLine(block.resource.uri)})`
        : fenced(block.resource.text, "");
    default:
      return fenced(json(block), "json");
  }
}

/** A fence that nothing in the text ends. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}
