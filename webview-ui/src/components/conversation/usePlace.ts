import type { Message } from "@assent/protocol";
import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { indexOfMessage } from "../../store/messages.ts";
import { useView } from "../../view/ViewContext.ts";
import type { Place, ViewStateStore } from "../../view/viewState.ts";

// Fractions of pixels and a person's aim are both imprecise.
const nearBottomPx = 24;

// What of a page is still seen on the next one.
const overlapPx = 60;

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
  /** The person did something in the list since it changed: what grows is what they opened. */
  const touched = useRef(false);
  /** Where the list was scrolled to by this hook; another position is somebody else's. */
  const written = useRef<number>(undefined);
  // For the listeners, which outlive a drawing.
  const shown = useRef(messages);

  const scrollTo = useCallback((element: HTMLElement, top: number) => {
    const wanted = Math.max(0, top);
    if (Math.abs(element.scrollTop - wanted) >= 1) element.scrollTop = wanted;
    written.current = element.scrollTop;
  }, []);

  useLayoutEffect(() => {
    shown.current = messages;
    const element = scroller.current;
    const last = messages.at(-1);
    if (element === null || last === undefined) return;
    const old = before.current;
    before.current = messages;
    if (old !== messages) touched.current = false;
    if (old.length === 0) {
      place.current = view.get().place;
    } else if (old !== messages && atBottom.current && !isAwaited(place.current, old)) {
      // A message taller than the panel is shown from its beginning; one that grows is followed.
      const appended = old.at(-1)?.id !== last.id;
      place.current = appended ? { messageId: last.id, offset: 0 } : undefined;
    }

    const bottom = element.scrollHeight - element.clientHeight;
    const top = place.current && topOf(virtualizer, messages, place.current);
    if (top !== undefined) {
      scrollTo(element, Math.min(top, bottom));
      atBottom.current = isAtBottom(element);
    } else if (atBottom.current && !touched.current) {
      scrollTo(element, bottom);
    }
  });

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    return listen(element, {
      virtualizer,
      view,
      shown,
      atBottom,
      place,
      touched,
      written,
      scrollTo,
    });
  }, [scroller, virtualizer, view, scrollTo]);

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

/** What the listeners share with the hook. */
interface Scrolling {
  readonly virtualizer: Virtualizer<HTMLElement, HTMLLIElement>;
  readonly view: ViewStateStore;
  readonly shown: RefObject<readonly Message[]>;
  readonly atBottom: RefObject<boolean>;
  readonly place: RefObject<Place | undefined>;
  readonly touched: RefObject<boolean>;
  readonly written: RefObject<number | undefined>;
  readonly scrollTo: (element: HTMLElement, top: number) => void;
}

/** Hears where the person scrolls, until the returned function is called. */
function listen(element: HTMLElement, scrolling: Scrolling): () => void {
  const { virtualizer, view, shown, atBottom, place, touched, written, scrollTo } = scrolling;
  const onScroll = () => {
    if (Math.abs(element.scrollTop - (written.current ?? Number.NaN)) < 1) return;
    written.current = undefined;
    place.current = undefined;
    atBottom.current = isAtBottom(element);
  };
  const onScrollEnd = () => {
    if (isAwaited(place.current, shown.current)) return;
    const now = isAtBottom(element) ? undefined : placeAt(virtualizer, shown.current, element);
    view.update(({ place: _old, ...state }) =>
      now === undefined ? state : { ...state, place: now },
    );
  };
  const onWheel = () => {
    place.current = undefined;
  };
  // What a person opens or closes must not be moved away under their hand.
  const onPointerDown = () => {
    place.current = undefined;
    touched.current = true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    onPointerDown();
    if (!isForList(event)) return;
    const page = element.clientHeight - overlapPx;
    switch (event.key) {
      case "Home":
        element.scrollTop = 0;
        break;
      case "End":
        atBottom.current = true;
        touched.current = false;
        scrollTo(element, element.scrollHeight - element.clientHeight);
        break;
      case "PageUp":
      case "PageDown": {
        const now = placeAt(virtualizer, shown.current, element);
        if (now === undefined) return;
        const by = event.key === "PageUp" ? -page : page;
        element.scrollTop += by;
        // Rows that come into view get their heights: what was at the top stays where it went.
        written.current = element.scrollTop;
        place.current = { ...now, offset: now.offset + by };
        atBottom.current = isAtBottom(element);
        break;
      }
      default:
        return;
    }
    event.preventDefault();
  };
  const controller = new AbortController();
  const { signal } = controller;
  // Before the virtualizer hears of it, which draws at once.
  element.addEventListener("scroll", onScroll, { signal, passive: true, capture: true });
  element.addEventListener("scrollend", onScrollEnd, { signal });
  element.addEventListener("pointerdown", onPointerDown, { signal });
  element.addEventListener("wheel", onWheel, { signal, passive: true });
  element.addEventListener("keydown", onKeyDown, { signal });
  // What opens below the list must not hide its end. Drawing follows only where other rows are in sight.
  const resizes = new ResizeObserver(() => {
    if (!atBottom.current || touched.current || place.current !== undefined) return;
    scrollTo(element, element.scrollHeight - element.clientHeight);
  });
  resizes.observe(element);
  return () => {
    controller.abort();
    resizes.disconnect();
  };
}

function isAtBottom({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight < nearBottomPx;
}

/** Says whether a place is on a page that has not been read yet. */
function isAwaited(place: Place | undefined, messages: readonly Message[]): boolean {
  return place !== undefined && indexOfMessage(messages, place.messageId) === -1;
}

/**
 * Says whether a key is the list's and not a control's. The browser's own way to scroll by it glides, and
 * stops halfway where rows get their heights meanwhile.
 */
function isForList({
  target,
  defaultPrevented,
  altKey,
  ctrlKey,
  metaKey,
  shiftKey,
}: KeyboardEvent) {
  if (defaultPrevented || altKey || ctrlKey || metaKey || shiftKey) return false;
  const controls = "input, textarea, select, audio, video, [role=listbox]";
  return !(target instanceof Element && target.matches(controls));
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
