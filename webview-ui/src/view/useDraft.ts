import { useState } from "react";
import type { Draft } from "./viewState.ts";

/** What a person chose and typed on a card: kept as they do it, and begun from what was kept. */
export function useDraft(
  kept: Draft | undefined,
  onDraft: (draft: Draft) => void,
): readonly [Draft, (draft: Draft) => void] {
  const [draft, setDraft] = useState(kept ?? {});
  const change = (next: Draft) => {
    setDraft(next);
    onDraft(next);
  };
  return [draft, change];
}
