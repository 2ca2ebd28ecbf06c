import { useEffect, useRef } from "react";
import { findOpenAsks } from "../../store/openAsks.ts";
import type { Conversation } from "../../store/openTask.ts";
import type { Actions } from "../../store/session.ts";
import { useView } from "../../view/ViewContext.ts";

// Loads the previous page when the view is this many rows from the first loaded one: several screens.
const nearFirst = 40;

/**
 * Loads earlier messages before the person scrolls to them, and those at the position that an earlier page stored. A
 * failed page is not requested again: there is a button for that.
 */
export function useEarlier(
  { messages, earlier, paging }: Conversation,
  firstInSight: number | undefined,
  { loadEarlier }: Actions,
): void {
  const view = useView();
  const left = useRef(view.get().place?.messageId);
  const asked = useRef<number>(undefined);
  const oldest = messages[0]?.id;
  const isNear = firstInSight !== undefined && firstInSight < nearFirst;
  useEffect(() => {
    if (oldest === undefined || !earlier || paging || asked.current === oldest) return;
    const wanted = left.current !== undefined && left.current < oldest ? left.current : undefined;
    if (!isNear && wanted === undefined) return;
    asked.current = oldest;
    loadEarlier(wanted);
  }, [oldest, earlier, paging, isNear, loadEarlier]);
}

/** Above the first number of messages, old ones are dropped until the second number is left. */
const mostMessages = { here: 1000, left: 400 } as const;

/**
 * Drops old messages while the person is at the newest one, because a conversation of months would need too much
 * memory. A message that must stay rendered stays, with all that follow it.
 */
export function useForgetting(
  { messages }: Conversation,
  /** The message of the row that must stay rendered, as must the rows of open asks. */
  held: number | undefined,
  isAtBottom: () => boolean,
  { forgetEarlier }: Actions,
): void {
  const firstOpen = findOpenAsks(messages)[0]?.message.id;
  const firstKept = held === undefined ? firstOpen : Math.min(held, firstOpen ?? held);
  useEffect(() => {
    if (messages.length <= mostMessages.here || !isAtBottom()) return;
    const first = messages.at(-mostMessages.left)?.id;
    if (first !== undefined) forgetEarlier(Math.min(first, firstKept ?? first));
  });
}
