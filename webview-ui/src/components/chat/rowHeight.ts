import type { Message } from "@assent/protocol";
import { indexOfMessage } from "../../state/messages.ts";

/**
 * Guesses the height of a message's row in pixels, until the row is drawn and measured. A wrong guess moves only the
 * scrollbar, because the rows in sight keep their place.
 */
export function likelyHeight(message: Message | undefined): number {
  if (message === undefined) return 0;
  const { body } = message;
  switch (body.type) {
    case "notice":
      return 36;
    case "attachment":
    case "call":
      return 84;
    case "ask":
      return body.outcome === undefined ? 44 : 96;
    case "user":
    case "model":
      return 120;
    default:
      body satisfies never;
      return 84; // its row says that it cannot be drawn
  }
}

/** About where a message begins, in pixels; where the last one ends, without one that is here. */
export function offsetOf(messages: readonly Message[], messageId: number | undefined): number {
  const index = messageId === undefined ? -1 : indexOfMessage(messages, messageId);
  const above = index === -1 ? messages : messages.slice(0, index);
  return above.reduce((sum, message) => sum + likelyHeight(message), 0);
}
