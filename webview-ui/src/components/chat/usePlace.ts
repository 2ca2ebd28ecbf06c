import type { Message } from "@assent/protocol";
import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { indexOfMessage } from "../../state/messages.ts";
import type { Place } from "../../viewState.ts";
import { useView } from "../ViewContext.ts";

// Fractions of pixels and a person's aim are both imprecise.
const nearBottomPx = 24;

// What is brought into view gets some air above it.
const marginPx = 8;

export interface PlaceKeeper {
  /** Brings a row into view from its beginning, unless it is wholly in view. It may not be drawn yet. */
  show(messageId: number): void;
  /** The list sticks to its newest message. */
  isAtBottom(): boolean;
}

/**
 * Keeps the place in a list of messages: at its newest, unless the person scrolled away from there; at a
 * message that was asked for, until the person scrolls; and where it was in an earlier life of the view.
 *
 * Rows get their heights only when they are drawn, so a place is a message and not a number of pixels:
 * after every drawing the list is scrolled to where that message has come to be. Where the person has
 * scrolled elsewhere, the virtualizer alone keeps in place what they read.
 */
export function usePlace(
  scroller: RefObject<HTMLElement | null>,
  virtualizer: Virtualizer<HTMLElement, HTMLLIElement>,
  messages: readonly Message[],
): PlaceKeeper {
  const view = useView();
  const before = useRef<readonly Message[]>([]);
  const atBottom = useRef(true);
  const place = useRef<Place>(undefined);
  /** Where the list was scrolled to by this hook; another position is somebody else's. */
  const written = useRef<number>(undefined);
  // For the listeners, which outlive a drawing.
  const shown = useRef(messages);

  useLayoutEffect(() => {
    shown.current = messages;
    const element = scroller.current;
    const last = messages.at(-1);
    if (element === null || last === undefined) return;
    const old = before.current;
    before.current = messages;
    if (old.length === 0) {
      place.current = view.get().place;
    } else if (old !== messages && atBottom.current) {
      // A message taller than the panel is shown from its beginning; one that grows is followed.
      const appended = old.at(-1)?.id !== last.id;
      place.current = appended ? { messageId: last.id, offset: 0 } : undefined;
    }

    const bottom = element.scrollHeight - element.clientHeight;
    const top = place.current && topOf(virtualizer, messages, place.current);
    if (top !== undefined) {
      scrollTo(element, Math.min(top, bottom));
      atBottom.current = isAtBottom(element);
    } else if (atBottom.current && (old !== messages || !isAtWork(element))) {
      scrollTo(element, bottom);
    }
  });

  function scrollTo(element: HTMLElement, top: number): void {
    const wanted = Math.max(0, top);
    if (Math.abs(element.scrollTop - wanted) >= 1) element.scrollTop = wanted;
    written.current = element.scrollTop;
  }

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const onScroll = () => {
      if (Math.abs(element.scrollTop - (written.current ?? Number.NaN)) < 1) return;
      written.current = undefined;
      place.current = undefined;
      atBottom.current = isAtBottom(element);
    };
    const onScrollEnd = () => {
      const now = isAtBottom(element) ? undefined : placeAt(virtualizer, shown.current, element);
      view.update(({ place: _old, ...state }) =>
        now === undefined ? state : { ...state, place: now },
      );
    };
    // What a person opens or closes must not be moved away under their hand.
    const onInput = () => {
      place.current = undefined;
    };
    const listeners = {
      scroll: onScroll,
      scrollend: onScrollEnd,
      pointerdown: onInput,
      keydown: onInput,
      wheel: onInput,
    };
    for (const [name, listener] of Object.entries(listeners)) {
      element.addEventListener(name, listener, { passive: true });
    }
    return () => {
      for (const [name, listener] of Object.entries(listeners)) {
        element.removeEventListener(name, listener);
      }
    };
  }, [scroller, virtualizer, view]);

  return {
    show(messageId) {
      const element = scroller.current;
      const row = virtualizer.measurementsCache[indexOfMessage(shown.current, messageId)];
      if (element === null || row === undefined) return;
      const { scrollTop, clientHeight } = element;
      const isMeasured = virtualizer.itemSizeCache.has(row.key);
      if (isMeasured && row.start >= scrollTop && row.end <= scrollTop + clientHeight) return;
      place.current = { messageId, offset: -marginPx };
    },
    isAtBottom: () => atBottom.current,
  };
}

function isAtBottom({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight < nearBottomPx;
}

/** Says whether the person is at something in the list: what grows then is what they opened. */
function isAtWork(element: HTMLElement): boolean {
  return element !== document.activeElement && element.contains(document.activeElement);
}

/** How far to scroll to a place, in pixels; undefined where its message is not among those here. */
function topOf(
  virtualizer: Virtualizer<HTMLElement, HTMLLIElement>,
  messages: readonly Message[],
  { messageId, offset }: Place,
): number | undefined {
  const index = indexOfMessage(messages, messageId);
  const start = index === -1 ? undefined : virtualizer.measurementsCache[index]?.start;
  return start === undefined ? undefined : start + offset;
}

/** The place at the top of what is seen. */
function placeAt(
  virtualizer: Virtualizer<HTMLElement, HTMLLIElement>,
  messages: readonly Message[],
  { scrollTop }: HTMLElement,
): Place | undefined {
  const row = virtualizer.getVirtualItemForOffset(scrollTop);
  const message = row && messages[row.index];
  return message && { messageId: message.id, offset: Math.round(scrollTop - row.start) };
}
