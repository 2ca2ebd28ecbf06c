import { emojiCharacters, hiddenCharacters, joiningCharacters } from "./protocol.ts";

const [hidden, emoji, joining] = [hiddenCharacters, emojiCharacters, joiningCharacters].map(
  (table) =>
    table
      .split(" ")
      .map((range) => range.replace(/[0-9a-f]+/g, String.raw`\u{$&}`))
      .join(""),
);

/**
 * Characters that are invisible, or that reorder the text around them, except where ordinary text needs them: the line
 * end of Windows, an emoji's form, joined emoji, and joiners between letters of scripts that have them. The sidecar's
 * package visible has the same rule.
 */
const unseen = new RegExp(
  [
    String.raw`(?!\r\n)`,
    String.raw`(?!(?<=[${emoji}])[\ufe0e\ufe0f]|(?<=[0-9#*])[\ufe0e\ufe0f]\u20e3)`,
    String.raw`(?!(?<=[${emoji}\ufe0f])\u200d[${emoji}])`,
    String.raw`(?!(?<=[${joining}])[\u200c\u200d][${joining}])`,
    `[${hidden}]`,
  ].join(""),
  "gu",
);

/** Returns a foreign text in which each hidden character is replaced by its name. */
export function visible(text: string): string {
  return withoutHidden(text, named);
}

/** Returns a foreign text in which each hidden character is replaced. */
export function withoutHidden(text: string, replace: (character: string) => string): string {
  return text.replace(unseen, (character) => replace(character));
}

/** Names a character by its code point: [U+202E]. */
export function named(character: string): string {
  return `[U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}]`;
}
