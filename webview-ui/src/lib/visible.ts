/**
 * Characters that are invisible, or that reorder the text around them. Joiners and single variation selectors are
 * allowed, because emoji and scripts need them.
 */
const unseen = new RegExp(
  [
    String.raw`[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]`, // control characters
    String.raw`[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]`, // reordering marks
    String.raw`[\xad\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff]`, // breaks, operators
    String.raw`\u034f|\u17b4|\u17b5|[\u180b-\u180f]|[\ufff9-\ufffb]`, // marks of scripts and annotations
    String.raw`\u115f|\u1160|\u2800|\u3164|\uffa0`, // blank letters
    String.raw`[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e007f}]`, // musical controls; tags, which can form sentences
    // Repeated selectors have no effect, and can encode sentences.
    String.raw`(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`,
  ].join("|"),
  "gu",
);

/** Returns a foreign text in which each hidden character is replaced by its name. */
export function visible(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    return `[U+${code}]`;
  });
}
