import type { Message } from "@assent/protocol";
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { useView } from "../ViewContext.ts";

// Fractions of pixels and a person's aim are both imprecise.
const nearBottomPx = 24;

/**
 * Keeps a list of messages at its newest, unless the person scrolled away from there; brings it back
 * to where it was in an earlier life of the view.
 */
export function useStickyScroll(
  scroller: RefObject<HTMLElement | null>,
  messages: readonly Message[],
): void {
  const view = useView();
  const before = useRef({ messages: [] as readonly Message[], height: 0 });
  const sticks = useRef(true);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || messages.length === 0) return;
    const { messages: old, height } = before.current;
    before.current = { messages, height: element.scrollHeight };

    const kept = old.length === 0 ? view.get().scrollTop : undefined;
    if (kept !== undefined) {
      element.scrollTop = kept;
      sticks.current = isAtBottom(element);
    } else if (isPrepended(old, messages) && element.scrollTop < 1) {
      // At the very top the browser does not hold on to what was there.
      element.scrollTop = element.scrollHeight - height;
    } else if (sticks.current) {
      element.scrollTop = isAppended(old, messages)
        ? Math.min(element.scrollHeight, topOfLast(element))
        : element.scrollHeight;
    }
  }, [messages, scroller, view]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const onScroll = () => {
      sticks.current = isAtBottom(element);
    };
    const onScrollEnd = () => {
      const { scrollTop } = element;
      view.update(({ scrollTop: _old, ...state }) =>
        isAtBottom(element) ? state : { ...state, scrollTop },
      );
    };
    element.addEventListener("scroll", onScroll);
    element.addEventListener("scrollend", onScrollEnd);
    return () => {
      element.removeEventListener("scroll", onScroll);
      element.removeEventListener("scrollend", onScrollEnd);
    };
  }, [scroller, view]);
}

function isAtBottom({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight < nearBottomPx;
}

function isPrepended(old: readonly Message[], now: readonly Message[]): boolean {
  return old[0] !== undefined && now[0] !== undefined && now[0].id < old[0].id;
}

function isAppended(old: readonly Message[], now: readonly Message[]): boolean {
  return old.at(-1)?.id !== now.at(-1)?.id;
}

/** A message taller than the panel is shown from its beginning. The scroller is positioned. */
function topOfLast(element: HTMLElement): number {
  return element.querySelector<HTMLElement>(".rows > :last-child")?.offsetTop ?? 0;
}
