import { diffWordsWithSpace } from "diff";
import { useDeferredValue, useMemo } from "react";
import { visible } from "./visible.ts";

export interface DiffProps {
  readonly before: string;
  readonly after: string;
}

/** What became of a text, word by word: what is gone is struck out, what is new is marked. */
export function Diff({ before, after }: DiffProps) {
  // Whoever types does not wait for the comparison.
  const now = useDeferredValue(after);
  const pieces = useMemo(() => piecesOf(before, now), [before, now]);
  return (
    <p className="diff">
      {pieces.map(({ value, added = false, removed = false }, index) => {
        const text = visible(value);
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece has no name but its place.
        if (removed) return <del key={index}>{text}</del>;
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece has no name but its place.
        if (added) return <ins key={index}>{text}</ins>;
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece has no name but its place.
        return <span key={index}>{text}</span>;
      })}
    </p>
  );
}

interface Piece {
  readonly value: string;
  readonly added?: boolean;
  readonly removed?: boolean;
}

// Texts that are long, or have little in common, take long to compare and tell nobody anything word by word.
const longest = 200_000;
const timeout = 100;

function piecesOf(before: string, after: string): readonly Piece[] {
  const pieces =
    before.length + after.length > longest
      ? undefined
      : diffWordsWithSpace(before, after, { timeout });
  if (
    pieces !== undefined &&
    shared(pieces) >= littleInCommon * Math.min(ink(before), ink(after))
  ) {
    return pieces;
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
