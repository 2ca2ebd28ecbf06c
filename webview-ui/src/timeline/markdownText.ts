import type { ContentBlock } from "@assent/protocol";

/** Formats a time independently of the locale: 2026-11-22 21:14:05 UTC. */
export function utc(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Binary content is only named, because people read the document. */
export function blockOf(block: ContentBlock): string {
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

/** Returns a fence that is longer than any in the text. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

export function json(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}
