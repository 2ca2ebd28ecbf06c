import { diffWordsWithSpace } from "diff";

/** A part of a comparison. */
export interface Piece {
  readonly value: string;
  readonly added?: boolean;
  readonly removed?: boolean;
  /** Stands for a longer unchanged part. */
  readonly gap?: boolean;
}

// Comparing long or very different texts takes long, and the result is not readable.
const longest = 200_000;
const timeout = 100;

/** Compares two texts word by word. Unchanged text is kept only near a change. */
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

// With less in common, a word-by-word comparison is not readable.
const littleInCommon = 0.3;

function shared(pieces: readonly Piece[]): number {
  return pieces.reduce(
    (sum, { value, added = false, removed = false }) => sum + (added || removed ? 0 : ink(value)),
    0,
  );
}

/** The number of visible characters in a text. */
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

/** Shortens an unchanged part to its beginning after a change, and its end before a change. */
function shortened(text: string, afterChange: boolean, beforeChange: boolean): readonly Piece[] {
  const start = afterChange ? startOf(text) : "";
  const end = beforeChange ? endOf(text) : "";
  // A shorter gap would hide almost nothing.
  if (start.length + end.length + gap.value.length >= text.length) return [{ value: text }];
  return [{ value: start }, gap, { value: end }].filter(({ value }) => value !== "");
}

const mostCharacters = 160;

/** The rest of the changed line, and the next line. */
function startOf(text: string): string {
  const lines = text.split("\n").slice(0, 2).join("\n");
  return lines.length > mostCharacters ? lines.slice(0, mostCharacters).trimEnd() : lines;
}

/** The line before the changed one, and the beginning of the changed one. */
function endOf(text: string): string {
  const lines = text.split("\n").slice(-2).join("\n");
  return lines.length > mostCharacters ? lines.slice(-mostCharacters).trimStart() : lines;
}
