import type { CallRequest, ContentBlock, ToolResult } from "@assent/protocol";

/** The result of a tool as MCP has it, for the tool's app. */
export function toolResultOf(result: ToolResult): object {
  const { content = [], structuredContent, isError, _meta } = result;
  return {
    content: content.map(blockOf),
    ...(structuredContent !== undefined && structuredContent !== null && { structuredContent }),
    ...(isError === true && { isError }),
    ...(_meta !== undefined && _meta !== null && { _meta }),
  };
}

function blockOf(block: ContentBlock): unknown {
  return block.type === "unknown" ? block.raw : block;
}

/** The arguments of a call, for the tool's app. */
export function toolInputOf(request: CallRequest): object {
  return request.type === "tools/call" ? { arguments: request.arguments } : {};
}

/** The longest text that an app may put into a message or its context, in characters. */
const maxText = 32_000;

/** Returns the text of what an app sends as content; undefined if it has none, or too much. */
export function textOf(params: unknown): string | undefined {
  if (!isRecord(params)) return undefined;
  const { content, structuredContent } = params;
  const blocks = Array.isArray(content) ? content : [];
  const texts = blocks.flatMap((block: unknown) =>
    isRecord(block) && block["type"] === "text" && typeof block["text"] === "string"
      ? [block["text"]]
      : [],
  );
  if (isRecord(structuredContent)) texts.push(JSON.stringify(structuredContent, undefined, 2));
  const text = texts.join("\n\n").trim();
  return text === "" || text.length > maxText ? undefined : text;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
