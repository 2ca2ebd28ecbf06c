import type { Message } from "@assent/protocol";
import { defaultRangeExtractor, type Range } from "@tanstack/react-virtual";
import { useCallback, useState } from "react";
import { indexOfMessage } from "../../store/messages.ts";

export interface MountedRows {
  /** The rows to render, by index in ascending order: the visible ones and those that must stay. */
  readonly rangeExtractor: (range: Range) => number[];
  /** The message of the row that has the focus, had it last, or is about to get it. */
  readonly held: number | undefined;
  hold(messageId: number): void;
}

/**
 * Decides which rows are rendered: the visible ones, and the one that has or had the focus. Removing an element loses
 * its focus, and VS Code and scrollbars take the focus only for a while.
 */
export function useMountedRows(messages: readonly Message[]): MountedRows {
  const [held, hold] = useState<number>();
  const heldIndex = held === undefined ? -1 : indexOfMessage(messages, held);
  const rangeExtractor = useCallback(
    (range: Range) =>
      [
        ...new Set([...defaultRangeExtractor(range), ...(heldIndex === -1 ? [] : [heldIndex])]),
      ].sort((a, b) => a - b),
    [heldIndex],
  );
  return { rangeExtractor, held, hold };
}
