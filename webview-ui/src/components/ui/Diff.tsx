import { diffWordsWithSpace } from "diff";
import { visible } from "./visible.ts";

export interface DiffProps {
  readonly before: string;
  readonly after: string;
}

/** What became of a text, word by word: what is gone is struck out, what is new is marked. */
export function Diff({ before, after }: DiffProps) {
  return (
    <p className="diff">
      {piecesOf(before, after).map(({ value, added = false, removed = false }, index) => {
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

// Texts that have little in common take long to compare, and tell nobody anything word by word.
const timeout = 200;

function piecesOf(before: string, after: string): readonly Piece[] {
  return (
    diffWordsWithSpace(before, after, { timeout }) ?? [
      { value: before, removed: true },
      { value: after, added: true },
    ]
  );
}
