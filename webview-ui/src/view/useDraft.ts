import { useState } from "react";
import type { Draft } from "./viewState.ts";

/** The person's choices and texts on a card, stored as they change, and restored at first. */
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
