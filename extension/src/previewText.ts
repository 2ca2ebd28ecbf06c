import { withoutHidden } from "@assent/protocol/visible";
import * as l10n from "@vscode/l10n";

const commentWidth = 70;

/** What a preview shows. */
export interface PreviewedServers {
  /** The name of the file or setting that the text will be added to. */
  readonly target: string;
  /** Sentences for the person. */
  readonly warnings: readonly string[];
  /** What will be written. */
  readonly content: Readonly<Record<string, unknown>>;
}

/**
 * Returns the document that shows what will be written: JSON with comments. It begins with text that the person knows
 * already, because the confirming list covers the first lines.
 */
export function previewText({ target, warnings, content }: PreviewedServers): string {
  const head = [
    l10n.t("Nothing has been written yet."),
    "",
    l10n.t("This text will be added to"),
    target,
    "",
  ];
  return [
    ...head.flatMap(commentOf),
    ...warnings.flatMap((warning) => [...commentOf(`⚠ ${warning}`), "//"]),
    "",
    withoutHidden(JSON.stringify(content, null, 2), escaped),
    "",
  ].join("\n");
}

/** Puts a foreign text on one line, so that no part of it begins a line. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
}

/** Escapes a character for JSON. Such characters occur only within strings. */
function escaped(character: string): string {
  let units = "";
  for (let i = 0; i < character.length; i++) {
    units += `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
  }
  return units;
}

/** Returns a text as comment lines that fit beside the panel. */
function commentOf(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of oneLine(text).split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && longer.length <= commentWidth) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => `// ${line}`.trimEnd());
}
