import type { Message } from "@assent/protocol";
import { defaultRangeExtractor, type Range } from "@tanstack/react-virtual";
import { useCallback, useState } from "react";
import { indexOfMessage } from "../../store/messages.ts";

export interface MountedRows {
  /** The rows to draw, by index in ascending order: those in sight and those that must not go. */
  readonly rangeExtractor: (range: Range) => number[];
  /** The message with the row that has the focus, had it last, or is about to get it. */
  readonly held: number | undefined;
  hold(messageId: number): void;
}

/**
 * Decides which rows are drawn: those in sight, and the one that has the focus or had it last. The focus is lost with
 * its element, and VS Code and scrollbars take it only for a while.
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
