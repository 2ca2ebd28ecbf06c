/**
 * Characters that are read and not seen, or that turn the order of those around them: controls (but
 * for tabs and the ends of lines), zero-width spaces, directional embeddings, overrides and isolates, invisible operators, and the tags in which
 * whole sentences can be hidden. Joiners and variation selectors stay: emoji and scripts need them.
 */
const unseen =
  /(?![\t\n\r])\p{Cc}|[\u{ad}\u{200b}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{e0000}-\u{e007f}]/gu;

/** A stranger's text with everything in it to be seen: a character that hides is named instead. */
export function visible(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return `[U+${code}]`;
  });
}
