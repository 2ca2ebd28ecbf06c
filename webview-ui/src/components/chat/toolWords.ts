import type { ToolAnnotations } from "@assent/protocol";

/** Something that a server says, or does not say, of its tool. */
export interface ToolClaim {
  readonly icon: string;
  readonly words: string;
}

/**
 * A server's claims of a tool, and what is to be thought where it makes none (2025-11-25,
 * ToolAnnotations: a tool that does not say otherwise may destroy something, and reach beyond its server).
 */
export function toolClaims(annotations: ToolAnnotations | undefined): readonly ToolClaim[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {};
  const open: ToolClaim[] =
    openWorldHint === undefined
      ? []
      : [
          openWorldHint
            ? { icon: "globe", words: "The server says that it reaches beyond the server" }
            : { icon: "lock", words: "The server says that it does not reach beyond the server" },
        ];
  if (readOnlyHint === true) {
    return [{ icon: "eye", words: "The server says that it only reads" }, ...open];
  }
  const destroys: ToolClaim =
    destructiveHint === false
      ? { icon: "add", words: "The server says that it adds and deletes nothing" }
      : destructiveHint === true
        ? { icon: "trash", words: "The server says that it may delete or overwrite things" }
        : { icon: "question", words: "The server does not say whether it deletes things: it may" };
  const again: ToolClaim[] =
    idempotentHint === true
      ? [{ icon: "sync", words: "The server says that calling it twice changes nothing more" }]
      : [];
  return [destroys, ...again, ...open];
}

/** Reads arguments that a person typed: a JSON object, or what is wrong. */
export function readArguments(
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { value };
    return { problem: "Arguments are a JSON object: they begin with { and end with }." };
  } catch (error) {
    return { problem: `This is not JSON: ${error instanceof Error ? error.message : error}` };
  }
}
