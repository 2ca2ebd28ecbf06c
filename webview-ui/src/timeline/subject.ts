import type { ContentBlock, McpElicitation, UseMcpServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../lib/brief.ts";
import { unreachable } from "../lib/unreachable.ts";
import { answersOf } from "./fieldText.ts";

/** The subject of a question in one line. A foreign text is shortened. */
export function subjectOf(question: UseMcpServer): string {
  switch (question.type) {
    case "mcp_elicitation":
      return plain(question.elicitationRequest.message) || l10n.t("a form");
    case "mcp_url_elicitation":
      return hostOf(question.url);
    case "mcp_sampling": {
      const last = question.samplingRequest.messages?.at(-1);
      return contentText(last?.content ?? []) || l10n.t("a request");
    }
    case "mcp_sampling_review":
      return contentText(question.samplingResponse.content ?? []) || l10n.t("an empty answer");
    case "use_mcp_tool": {
      const { tool } = question;
      return plain(tool.title ?? tool.annotations?.title ?? tool.name);
    }
    case "access_mcp_resource":
      return plain(question.resource?.title ?? question.resource?.name ?? question.uri);
    case "repeat_mcp_call":
      return plain(question.reason);
    case "host_permission":
      if (question.plan !== undefined) return firstLine(question.plan) ?? brief(question.tool);
      return brief(question.command ?? question.changes?.[0]?.path ?? question.tool);
    default:
      return unreachable(question);
  }
}

/** The first line of a text as its title, without Markdown's marks; undefined if the text is empty. A long line is cut. */
export function firstLine(text: string): string | undefined {
  const line = plain(text.slice(0, longest).trim().split("\n", 1)[0] ?? "");
  return line === "" ? undefined : line;
}

/** A text below its first line, if that is a whole title of plain words. A text that begins otherwise is whole. */
export function belowFirstLine(text: string): string {
  const [line = "", ...rest] = text.trim().split("\n");
  const isBlock = /^(?:\s{4}|[-*+>~=]|```|\d+[.)]\s)|\|/.test(line);
  const isUnderlined = /^(?:=+|-+)\s*$/.test(rest[0] ?? "");
  return isBlock || isUnderlined || brief(line) !== line ? text : rest.join("\n").trim();
}

/** The site of a page; the whole text if it is not a URL. */
function hostOf(url: string): string {
  return brief(URL.canParse(url) ? new URL(url).host : url);
}

/** The values of an answer in one line. Choices and checkboxes stand alone. Other values follow their field's name. */
export function valuesText(question: McpElicitation): string {
  const given = answersOf(question).filter(({ empty }) => !empty);
  return given
    .map(({ title, text, type, ticked }) => {
      if (ticked) return title;
      const speaks = type === "choice" || (given.length === 1 && type !== "boolean");
      return speaks ? plain(text) : `${title}: ${plain(text)}`;
    })
    .join(", ");
}

/** Content in one line. */
export function contentText(blocks: readonly ContentBlock[]): string {
  return plain(
    blocks
      .map(blockText)
      .filter((text) => text !== "")
      .join(" "),
  );
}

/** The most characters of a title that is taken from a longer text. */
const longestTitle = 100;

/** The beginning of a content as a title: its first line, cut between two words; undefined if it has no text. */
export function contentTitle(blocks: readonly ContentBlock[]): string | undefined {
  const line = firstLine(blocks.map(blockText).find((text) => text.trim() !== "") ?? "");
  if (line === undefined || line.length <= longestTitle) return line;
  const cut = line.slice(0, longestTitle);
  const space = cut.lastIndexOf(" ");
  return `${space > longestTitle / 2 ? cut.slice(0, space) : cut}…`;
}

/** Reports whether one line shows all of the content unchanged: a short text without Markdown. */
export function isOneLine(blocks: readonly ContentBlock[]): boolean {
  const [block] = blocks;
  if (blocks.length !== 1 || block?.type !== "text") return false;
  return plain(block.text) === block.text && !/[*_`#<>[\]|\\~$]/.test(block.text);
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `(${block.mimeType})`;
    case "resource_link":
      return block.uri;
    case "resource":
      return block.resource.text ?? block.resource.uri;
    case "tool_use":
      return l10n.t("[calls {0}]", block.name);
    case "tool_result":
      return (block.content ?? []).map(blockText).join(" ");
    default:
      return "";
  }
}

/** A text in one line, without Markdown's marks, shortened if it is long. */
export function plain(text: string): string {
  const start = text.slice(0, longest);
  return brief(
    start
      .replaceAll(/^\s*(?:#{1,6}|[-*>])\s+/gm, "")
      .replaceAll(/(\*\*|__|`)(?=\S)(.+?)\1/g, "$2")
      // Single marks stand at the edges of words: 2*3*4 and a_b_c have none.
      .replaceAll(/(^|[\s("“])([*_])(?=[^\s*_])([^*_]*[^\s*_])\2(?!\w)/g, "$1$3")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
}

/** A longer text is cut anyway, so the rest is not processed. */
const longest = 2000;
