import type { Message } from "@assent/protocol";
import { type Entry, timelineOf } from "../timeline/timeline.ts";

/** Returns the entry of the first message, including other messages that belong to it. */
export function entryOf(...messages: readonly [Message, ...Message[]]): Entry {
  const [entry] = timelineOf(messages).entries;
  if (entry === undefined) throw new Error("a message has no entry");
  return entry;
}
