import { diffWordsWithSpace } from "diff";

/** A part of a comparison. */
export interface Piece {
  readonly value: string;
  readonly added?: boolean;
  readonly removed?: boolean;
  /** It stands for a longer part that did not change. */
  readonly gap?: boolean;
}

// Texts that are long, or have little in common, take long to compare and tell nobody anything word by word.
const longest = 200_000;
const timeout = 100;

/** Compares two texts word by word. Of what did not change, only what is near a change is left. */
export function piecesOf(before: string, after: string): readonly Piece[] {
  const pieces =
    before.length + after.length > longest
      ? undefined
      : diffWordsWithSpace(before, after, { timeout });
  if (
    pieces !== undefined &&
    shared(pieces) >= littleInCommon * Math.min(ink(before), ink(after))
  ) {
    return nearChanges(pieces);
  }
  return [
    { value: before, removed: true },
    { value: after, added: true },
  ].filter(({ value }) => value !== "");
}

// With less in common, word by word reads as garble.
const littleInCommon = 0.3;

function shared(pieces: readonly Piece[]): number {
  return pieces.reduce(
    (sum, { value, added = false, removed = false }) => sum + (added || removed ? 0 : ink(value)),
    0,
  );
}

/** How much there is to read in a text. */
function ink(text: string): number {
  return text.replace(/\s+/g, "").length;
}

function nearChanges(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.flatMap((piece, index) => {
    if (piece.added || piece.removed) return [piece];
    return shortened(piece.value, index > 0, index < pieces.length - 1);
  });
}

const gap: Piece = { value: " ⋯ ", gap: true };

/** An unchanged part, with its beginning if a change comes before it, and its end if one comes after it. */
function shortened(text: string, afterChange: boolean, beforeChange: boolean): readonly Piece[] {
  const start = afterChange ? startOf(text) : "";
  const end = beforeChange ? endOf(text) : "";
  // A gap that hides next to nothing is longer than that.
  if (start.length + end.length + gap.value.length >= text.length) return [{ value: text }];
  return [{ value: start }, gap, { value: end }].filter(({ value }) => value !== "");
}

const mostCharacters = 160;

/** The rest of the line that changed, and the next line. */
function startOf(text: string): string {
  const lines = text.split("\n").slice(0, 2).join("\n");
  return lines.length > mostCharacters ? lines.slice(0, mostCharacters).trimEnd() : lines;
}

/** The line before the one that changes, and the beginning of that. */
function endOf(text: string): string {
  const lines = text.split("\n").slice(-2).join("\n");
  return lines.length > mostCharacters ? lines.slice(-mostCharacters).trimStart() : lines;
}
