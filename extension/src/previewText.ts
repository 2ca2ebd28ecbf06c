import * as l10n from "@vscode/l10n";

const commentWidth = 70;

/** What a preview shows. */
export interface PreviewedServers {
  /** The file or setting that it will be added to, in words that stand alone. */
  readonly target: string;
  /** Sentences for the person. */
  readonly warnings: readonly string[];
  /** What will be written. */
  readonly content: Readonly<Record<string, unknown>>;
}

/**
 * The document that shows what will be written, before it is: JSON with comments. It begins with what
 * the person knows already, because the list in which they confirm it lies over the first lines.
 */
export function previewText({ target, warnings, content }: PreviewedServers): string {
  const head = [l10n.t("Nothing has been written yet."), "", l10n.t("This text will be added to"), target, ""];
  return [
    ...head.flatMap(commentOf),
    ...warnings.flatMap((warning) => [...commentOf(`⚠ ${warning}`), "//"]),
    "",
    JSON.stringify(content, null, 2).replace(hidden, escaped),
    "",
  ].join("\n");
}

/** Strangers' text may have anything in it; none of it may begin a line of its own. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

/** What would be in the document without being seen there, but for its own line breaks. */
const hidden = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Means the same in JSON, within a string; there is none of it anywhere else. */
function escaped(character: string): string {
  let units = "";
  for (let i = 0; i < character.length; i++) {
    units += `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
  }
  return units;
}

/** A text as a comment, in lines that fit beside the panel. */
function commentOf(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of oneLine(text).split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && longer.length <= commentWidth) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => `// ${line}`.trimEnd());
}
