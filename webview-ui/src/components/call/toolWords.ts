import type { ToolAnnotations } from "@assent/protocol";
import * as l10n from "@vscode/l10n";

/** A server's claim about its tool, or the lack of one. */
export interface ToolClaim {
  readonly icon: string;
  /** A short form, in a word or two. */
  readonly badge: string;
  readonly words: string;
}

/**
 * Returns a server's claims about a tool, in words. Without a claim, a tool may be destructive (2025-11-25,
 * ToolAnnotations).
 */
export function toolClaims(annotations: ToolAnnotations | undefined): readonly ToolClaim[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {};
  const open: ToolClaim[] =
    openWorldHint === undefined
      ? []
      : [
          openWorldHint
            ? {
                icon: "globe",
                badge: l10n.t("external access"),
                words: l10n.t("The server says that it reaches beyond the server"),
              }
            : {
                icon: "lock",
                badge: l10n.t("self-contained"),
                words: l10n.t("The server says that it does not reach beyond the server"),
              },
        ];
  if (readOnlyHint === true) {
    return [
      {
        icon: "eye",
        badge: l10n.t("read-only"),
        words: l10n.t("The server says that it only reads"),
      },
      ...open,
    ];
  }
  const destroys: ToolClaim =
    destructiveHint === false
      ? {
          icon: "add",
          badge: l10n.t("adds only"),
          words: l10n.t("The server says that it adds and deletes nothing"),
        }
      : destructiveHint === true
        ? {
            icon: "trash",
            badge: l10n.t("destructive"),
            words: l10n.t("The server says that it may delete or overwrite things"),
          }
        : {
            icon: "question",
            badge: l10n.t("may be destructive"),
            words: l10n.t("The server does not say whether it deletes things: it may"),
          };
  const again: ToolClaim[] =
    idempotentHint === true
      ? [
          {
            icon: "sync",
            badge: l10n.t("repeatable"),
            words: l10n.t("The server says that calling it twice changes nothing more"),
          },
        ]
      : [];
  return [destroys, ...again, ...open];
}

/** Returns the problem in arguments that a person typed; undefined if they are a JSON object. */
export function wrongArguments(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? undefined
      : l10n.t("Arguments are a JSON object: they begin with { and end with }.");
  } catch (error) {
    return l10n.t("Not JSON: {0}", error instanceof Error ? error.message : String(error));
  }
}
