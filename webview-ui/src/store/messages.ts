import type { Message } from "@assent/protocol";

/** Returns the index of a message in ascending order of id; -1 if it is missing. */
export function indexOfMessage(messages: readonly Message[], id: number): number {
  let low = 0;
  let high = messages.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const at = messages[middle]?.id ?? id;
    if (at === id) return middle;
    if (at < id) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
