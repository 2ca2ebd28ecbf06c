import { useDeferredValue, useMemo } from "react";
import { visible } from "../../lib/visible.ts";
import { Clamp } from "./Clamp.tsx";
import { piecesOf } from "./diffPieces.ts";

export interface DiffProps {
  readonly before: string;
  readonly after: string;
  /** Names the comparison in the view's state; unique in the panel. */
  readonly keep: string;
}

/**
 * Shows how a text changed, word by word: removed words are struck out, and added words are marked. Unchanged text is
 * shown only near a change.
 */
export function Diff({ before, after, keep }: DiffProps) {
  // Typing does not wait for the comparison.
  const now = useDeferredValue(after);
  const pieces = useMemo(() => piecesOf(before, now), [before, now]);
  return (
    <Clamp
      keep={keep}
      text={pieces.map(({ value }) => value).join("")}
      characters={Math.max(before.length, now.length)}
    >
      <p className="diff">
        {pieces.map(({ value, added = false, removed = false, gap = false }, index) => {
          const text = visible(value);
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece has no name but its place.
          if (removed) return <del key={index}>{text}</del>;
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece has no name but its place.
          if (added) return <ins key={index}>{text}</ins>;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a piece has no name but its place.
            <span key={index} className={gap ? "muted" : undefined}>
              {text}
            </span>
          );
        })}
      </p>
    </Clamp>
  );
}
