import type { Body } from "@assent/protocol";
import { type Entry, type Timeline, toolUseOf } from "./timeline.ts";

/** The visible part of a timeline, and the folds for the rest. */
export interface ShownEntries {
  readonly entries: readonly Entry[];
  /** The number of entries that left the conversation because of a message, by its id. */
  readonly replaced: ReadonlyMap<number, number>;
  /** The entries that left the conversation, by the ids of their messages. */
  readonly left: ReadonlySet<number>;
}

/**
 * Hides the entries that another message replaced, unless that message's fold is open. Open questions and the person's
 * own actions are always shown.
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

/** The outermost message because of which an entry left the conversation. */
export function foldOf({ entries }: Timeline, messageId: number): number | undefined {
  return entries.findLast(({ message: { id, body } }) => {
    const from = replacedBy(body);
    return from !== undefined && from <= messageId && messageId < id;
  })?.message.id;
}

function replacedBy(body: Body): number | undefined {
  return body.type === "user" || body.type === "model" ? body.replaces : undefined;
}

/** Reports whether an entry belongs to the conversation with the model and has ended. */
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
