import type { Message } from "@assent/protocol";
import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { indexOfMessage } from "../../store/messages.ts";
import { useView } from "../../view/ViewContext.ts";
import type { Place, ViewStateStore } from "../../view/viewState.ts";

// Tolerance for fractions of pixels and imprecise scrolling.
const nearBottomPx = 24;

// The overlap of two pages, in pixels.
const overlapPx = 60;

// The space above a row that is scrolled to.
const marginPx = 8;

export interface PlaceKeeper {
  /** Scrolls to the start of a row, unless all of it is visible. It may not be rendered yet. */
  show(messageId: number): void;
  /** Whether the list follows its newest message. */
  isAtBottom(): boolean;
}

/**
 * Keeps the position in a list of messages: at the newest one, unless the person scrolled away; at a requested message,
 * until the person scrolls; or at the position that an earlier page stored.
 *
 * Rows have heights only when they are rendered, so a position is a message and not a number of pixels. After every
 * render the list scrolls to where that message is now. After the person has scrolled elsewhere, only the virtualizer
 * keeps the position.
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
  /** The person has used the list since its last change, so growth is something that they opened. */
  const touched = useRef(false);
  /** The position that this hook scrolled to. Any other position comes from the person. */
  const written = useRef<number>(undefined);
  // For the listeners, which live longer than a render.
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
      // A message taller than the panel is shown from its start. A growing message is followed.
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

/** State shared by the listeners and the hook. */
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

/** Listens for the person's scrolling, until the returned function is called. */
function listen(element: HTMLElement, scrolling: Scrolling): () => void {
  const { virtualizer, view, shown, atBottom, place, touched, written, scrollTo } = scrolling;
  let size = sizeOf(element);
  const onScroll = () => {
    if (Math.abs(element.scrollTop - (written.current ?? Number.NaN)) < 1) return;
    // The browser itself scrolls a list that gets higher. When its event comes, the list may be lower again, and far
    // from its end. The observer of the size runs next, and scrolls to the end.
    if (atBottom.current && size !== sizeOf(element)) return;
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
  // A fold that the person toggles must stay under the pointer.
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
        // Rows get their heights as they come into view. Keep the top row in place.
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
  // Runs before the virtualizer's listener, which renders at once.
  element.addEventListener("scroll", onScroll, { signal, passive: true, capture: true });
  element.addEventListener("scrollend", onScrollEnd, { signal });
  element.addEventListener("pointerdown", onPointerDown, { signal });
  element.addEventListener("wheel", onWheel, { signal, passive: true });
  element.addEventListener("keydown", onKeyDown, { signal });
  // What opens below the list must not cover its end. A render follows only if other rows become visible.
  const resizes = new ResizeObserver(() => {
    size = sizeOf(element);
    if (!atBottom.current || touched.current || place.current !== undefined) return;
    scrollTo(element, element.scrollHeight - element.clientHeight);
  });
  resizes.observe(element);
  return () => {
    controller.abort();
    resizes.disconnect();
  };
}

function sizeOf({ clientWidth, clientHeight }: HTMLElement): string {
  return `${clientWidth} ${clientHeight}`;
}

function isAtBottom({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight < nearBottomPx;
}

/** Reports whether a position is on a page that is not loaded yet. */
function isAwaited(place: Place | undefined, messages: readonly Message[]): boolean {
  return place !== undefined && indexOfMessage(messages, place.messageId) === -1;
}

/**
 * Reports whether a key scrolls the list, and not a control. The browser's smooth scrolling stops halfway when rows get
 * their heights.
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

/** Returns the scroll offset of a position in pixels; undefined if its message is not loaded. */
function topOf(
  virtualizer: Virtualizer<HTMLElement, HTMLLIElement>,
  messages: readonly Message[],
  { messageId, offset }: Place,
): number | undefined {
  const index = indexOfMessage(messages, messageId);
  const start = index === -1 ? undefined : virtualizer.measurementsCache[index]?.start;
  return start === undefined ? undefined : start + offset;
}

/** Returns the position at the top of the view. */
function placeAt(
  virtualizer: Virtualizer<HTMLElement, HTMLLIElement>,
  messages: readonly Message[],
  { scrollTop }: HTMLElement,
): Place | undefined {
  const row = virtualizer.getVirtualItemForOffset(scrollTop);
  const message = row && messages[row.index];
  return message && { messageId: message.id, offset: Math.round(scrollTop - row.start) };
}
