import type { Entry } from "../../timeline/timeline.ts";

/**
 * Estimates the height of an entry's row in pixels, until the row is measured. A wrong estimate moves only the
 * scrollbar, because visible rows keep their place.
 */
export function likelyHeight(entry: Entry | undefined): number {
  return entry === undefined ? 0 : ownHeight(entry) + stepPx * entry.steps.length;
}

/** The height of a step's line. */
const stepPx = 26;

function ownHeight({ message: { body } }: Entry): number {
  switch (body.type) {
    case "notice":
      return 36;
    case "attachment":
    case "call":
      return 84;
    case "ask":
      return 8;
    case "user":
    case "model":
      return 120;
    default:
      body satisfies never;
      return 84; // its row says that it cannot be drawn
  }
}

/** Returns the estimated start of a message's entry in pixels; for an unknown message, the end of the last entry. */
export function offsetOf(entries: readonly Entry[], messageId: number | undefined): number {
  const index =
    messageId === undefined ? -1 : entries.findIndex(({ message }) => message.id === messageId);
  const above = index === -1 ? entries : entries.slice(0, index);
  return above.reduce((sum, entry) => sum + likelyHeight(entry), 0);
}
