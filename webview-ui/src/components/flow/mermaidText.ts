import { visible } from "../../lib/visible.ts";

/** The longest text in code points: a few lines of a narrow participant. */
const longest = 44;

/** Controls, lone surrogates and private use characters, which fonts and XML cannot handle. */
const unprintable = /(?![\u200c\u200d])\p{C}/gu;

/** ASCII characters that have or may get a meaning in Mermaid. */
const special = /[\0-\x7f]/g;
const plain = /[A-Za-z0-9 ._/()-]/;

/**
 * Prepares a foreign text for a line of Mermaid code: shortened, on one line, with hidden characters visible, and
 * without anything that Mermaid could interpret.
 */
export function mermaidText(text: string): string {
  const spaced = text.slice(0, 20 * longest).replaceAll(/[^\S\ufeff]+/g, " ");
  const line = visible(spaced).replaceAll(unprintable, "\ufffd").trim();
  return clipped(line).replaceAll(special, (character) =>
    plain.test(character) ? character : `#${character.charCodeAt(0)};`,
  );
}

function clipped(line: string): string {
  const characters = [...line];
  if (characters.length <= longest) return line;
  return `${characters
    .slice(0, longest - 1)
    .join("")
    .trim()}…`;
}
