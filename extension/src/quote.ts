import * as l10n from "@vscode/l10n";

/** A part of a file, as the person selected it. Lines count from 1. */
export interface Selection {
  readonly path: string;
  readonly language: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** How much is quoted, in UTF-16 units. A model that reads tools' results can read the rest of a file by itself. */
const most = 50_000;

/** How many files are named. */
const mostFiles = 50;

/** What a message to the model begins with that is about a selection: where it is, and all of it. */
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

/** What a message begins with that is about files: which ones. */
export function mentionOf(paths: readonly string[]): string {
  const named = paths.slice(0, mostFiles).map(asCode).join(", ");
  const left = paths.length - mostFiles;
  const all = left > 0 ? l10n.t("{0} and {1} more", named, left) : named;
  return `${l10n.t("About {0}:", all)}\n\n`;
}

/** A text as code within a line of Markdown, whatever is in it. */
function asCode(text: string): string {
  const fence = "`".repeat(longestRun(text) + 1);
  const room = fence.length > 1 ? " " : "";
  return `${fence}${room}${text}${room}${fence}`;
}

/** How many backticks there are in a row, at most. */
function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
