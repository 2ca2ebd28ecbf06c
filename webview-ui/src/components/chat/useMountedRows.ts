import type { Message } from "@assent/protocol";
import { defaultRangeExtractor, type Range } from "@tanstack/react-virtual";
import { useCallback, useMemo, useState } from "react";
import { indexOfMessage } from "../../state/messages.ts";
import { findOpenAsks } from "./openAsks.ts";

export interface MountedRows {
  /** The rows to draw, by index in ascending order: those in sight and those that must not go. */
  readonly rangeExtractor: (range: Range) => number[];
  /** The message whose row has the focus, had it last, or is about to get it. */
  readonly held: number | undefined;
  hold(messageId: number): void;
  /** The oldest of the messages whose rows must not go. */
  readonly firstKept: number | undefined;
}

/**
 * Decides which rows are drawn. A row out of sight is not, save two kinds: what a person types into an
 * open ask, its caret and its undo live in the row's elements alone, and so does the focus. The row that
 * had the focus last counts too, since VS Code and a scrollbar take the focus for a while.
 */
export function useMountedRows(messages: readonly Message[]): MountedRows {
  const [held, hold] = useState<number>();
  const kept = useMemo(() => {
    const open = findOpenAsks(messages).map(({ index }) => index);
    const index = held === undefined ? -1 : indexOfMessage(messages, held);
    return index === -1 ? open : [...open, index].sort((a, b) => a - b);
  }, [messages, held]);
  const rangeExtractor = useCallback(
    (range: Range) =>
      [...new Set([...defaultRangeExtractor(range), ...kept])].sort((a, b) => a - b),
    [kept],
  );
  const firstKept = kept[0] === undefined ? undefined : messages[kept[0]]?.id;
  return { rangeExtractor, held, hold, firstKept };
}
