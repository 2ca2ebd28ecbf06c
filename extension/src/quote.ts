import * as l10n from "@vscode/l10n";

/** A selected part of a file. Lines count from 1. */
export interface Selection {
  readonly path: string;
  readonly language: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** How much is quoted, in UTF-16 units. A model with tools can read the rest of a file. */
const most = 50_000;

/** The most files that are named. */
const mostFiles = 50;

/** Returns the beginning of a message about a selection: its place and its text. */
export function quoteOf({ path, language, text, from, to }: Selection): string {
  const where =
    from === to
      ? l10n.t("{0}, line {1}:", asCode(path), from)
      : l10n.t("{0}, lines {1} to {2}:", asCode(path), from, to);
  const cut = text.length > most;
  const shown = cut ? text.slice(0, most) : text;
  const fence = "`".repeat(Math.max(3, longestRun(shown) + 1));
  const note = cut ? `${l10n.t("[cut here: {0} of {1} characters]", most, text.length)}\n\n` : "";
  return `${where}\n\n${fence}${language}\n${shown.replace(/\n+$/, "")}\n${fence}\n\n${note}`;
}

/** Returns the beginning of a message about files: their names. */
export function mentionOf(paths: readonly string[]): string {
  const named = paths.slice(0, mostFiles).map(asCode).join(", ");
  const left = paths.length - mostFiles;
  const all = left > 0 ? l10n.t("{0} and {1} more", named, left) : named;
  return `${l10n.t("About {0}:", all)}\n\n`;
}

/** Returns any text as inline code of Markdown. */
function asCode(text: string): string {
  const fence = "`".repeat(longestRun(text) + 1);
  const room = fence.length > 1 ? " " : "";
  return `${fence}${room}${text}${room}${fence}`;
}

/** Returns the longest run of backticks. */
function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
