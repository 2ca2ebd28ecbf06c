import type { Body } from "@assent/protocol";
import { type Entry, type Timeline, toolUseOf } from "./timeline.ts";

/** What of a timeline is drawn, and what stands for the rest. */
export interface ShownEntries {
  readonly entries: readonly Entry[];
  /** How many entries left the conversation for a message, by its id. */
  readonly replaced: ReadonlyMap<number, number>;
  /** The entries that left the conversation, by the ids of their messages. */
  readonly left: ReadonlySet<number>;
}

/**
 * Leaves out what another message replaced, unless that message's fold is open. Open questions and the person's own
 * acts are always shown.
 */
export function shownEntries(
  { entries }: Timeline,
  isOpened: (messageId: number) => boolean,
): ShownEntries {
  const folds = entries.flatMap(({ message: { id, body } }) => {
    const from = replacedBy(body);
    return from === undefined || from >= id ? [] : [{ id, from, isOpen: isOpened(id) }];
  });
  const left = new Set<number>();
  const replaced = new Map(folds.map(({ id }) => [id, 0]));
  if (folds.length === 0) return { entries, replaced, left };
  const shown = entries.filter((entry) => {
    const { id } = entry.message;
    if (!mayLeave(entry)) return true;
    const around = folds.filter((fold) => fold.from <= id && id < fold.id);
    for (const fold of around) replaced.set(fold.id, (replaced.get(fold.id) ?? 0) + 1);
    if (around.length > 0) left.add(id);
    return around.every(({ isOpen }) => isOpen);
  });
  return { entries: shown, replaced, left };
}

/** The message for which an entry left the conversation, the one to open first. */
export function foldOf({ entries }: Timeline, messageId: number): number | undefined {
  return entries.findLast(({ message: { id, body } }) => {
    const from = replacedBy(body);
    return from !== undefined && from <= messageId && messageId < id;
  })?.message.id;
}

function replacedBy(body: Body): number | undefined {
  return body.type === "user" || body.type === "model" ? body.replaces : undefined;
}

/** Says whether an entry is of the conversation with the model, and over. */
function mayLeave({ message: { body }, steps }: Entry): boolean {
  if (steps.some(({ ask }) => ask.outcome === undefined)) return false;
  switch (body.type) {
    case "user":
    case "model":
      return true;
    case "call":
      return body.toolUse !== undefined && body.result !== undefined;
    case "ask":
      return toolUseOf(body) !== undefined;
    default:
      return false;
  }
}
