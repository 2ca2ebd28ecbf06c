import { useEffect, useRef } from "react";
import { findOpenAsks } from "../../store/openAsks.ts";
import type { Conversation } from "../../store/openTask.ts";
import type { Actions } from "../../store/session.ts";
import { useView } from "../../view/ViewContext.ts";

// How many rows before the first one that is here the page before it is asked for: several screens.
const nearFirst = 40;

/**
 * Reads earlier messages before they are scrolled to, and those among which the view was in an earlier
 * life. A page that did not come is not asked for again: for that there is a button.
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

/** Of how many messages those that were scrolled past long ago are dropped, and how many are left then. */
const mostMessages = { here: 1000, left: 400 } as const;

/**
 * Drops what was scrolled past long ago while the person is at the newest message: a conversation that
 * goes on for months must not be held whole. What must stay drawn stays, and whatever is after it.
 */
export function useForgetting(
  { messages }: Conversation,
  /** The message whose row must stay drawn, as must those of open asks. */
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
