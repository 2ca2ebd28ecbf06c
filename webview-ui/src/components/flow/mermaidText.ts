import { visible } from "../../lib/visible.ts";

/** In code points: a few lines of a narrow participant. */
const longest = 44;

/** Controls, halves of characters and private use, of which fonts and XML make nothing good. */
const unprintable = /(?![\u200c\u200d])\p{C}/gu;

/** ASCII that means something somewhere to Mermaid, or may come to. */
const special = /[\0-\x7f]/g;
const plain = /[A-Za-z0-9 ._/()-]/;

/**
 * A stranger's text for a line of Mermaid's language: clipped, in one line, with everything in it to
 * be seen, and nothing in it that could be taken for that language.
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
