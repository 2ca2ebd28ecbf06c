import { useCallback, useRef, useState } from "react";

/** Whether the whole question was in view. */
export interface Reading {
  /** It is unknown until the browser has laid out the card. */
  readonly state: "unknown" | "unread" | "read";
  /** The person pressed on while something was unread, and the card scrolled. */
  readonly scrolled: boolean;
  /** The ref of the element at the end of the question. */
  readonly end: (element: HTMLElement | null) => (() => void) | undefined;
  /** Scrolls on if something was never in view. Reports whether it was, so that the answer has to wait. */
  readonly holds: () => boolean;
}

/**
 * Watches whether the end of a question comes into view. A question that was in view once stays read, also if it
 * grows; another `phase` of the card starts again.
 */
export function useReading(phase = ""): Reading {
  const [now, setNow] = useState(() => begun(phase));
  if (now.phase !== phase) setNow(begun(phase));
  const at = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another phase is watched from its start.
  const end = useCallback(
    (element: HTMLElement | null) => {
      at.current = element;
      if (element === null || !canWatch()) return;
      return watch(element, (state) =>
        setNow((now) => (now.state === "read" ? now : { ...now, state })),
      );
    },
    [phase],
  );
  const { state, scrolled } = now;
  return {
    ...{ state, scrolled, end },
    holds: () => {
      if (state === "unread" && at.current !== null) {
        scrollOn(at.current);
        setNow({ ...now, scrolled: true });
      }
      return state !== "read";
    },
  };
}

function begun(phase: string): { phase: string } & Pick<Reading, "state" | "scrolled"> {
  return { phase, state: canWatch() ? "unknown" : "read", scrolled: false };
}

/** Without a layout there is nothing to scroll. */
function canWatch(): boolean {
  return typeof IntersectionObserver !== "undefined";
}

/** Tells when the element comes into view. A picture above it has its height only when it is loaded. */
function watch(element: HTMLElement, onChange: (state: "unread" | "read") => void): () => void {
  const card = element.closest(".ask-card");
  let isOver = false;
  const observer = new IntersectionObserver((entries) => {
    const inView = entries.at(-1)?.isIntersecting ?? false;
    const loading = [...(card?.querySelectorAll("img") ?? [])].filter(({ complete }) => !complete);
    if (!inView || loading.length === 0) {
      onChange(inView ? "read" : "unread");
      return;
    }
    void Promise.allSettled(loading.map((image) => image.decode())).then(() => {
      observer.unobserve(element);
      if (!isOver) observer.observe(element);
    });
  });
  observer.observe(element);
  return () => {
    isOver = true;
    observer.disconnect();
  };
}

/** How much of the read part stays in view, in pixels: about a line. */
const kept = 24;

/** Scrolls the question by its height in view, or to its end if that is nearer. */
function scrollOn(end: HTMLElement): void {
  const body = end.closest(".page") ?? end.closest(".ask-body");
  const at = end.getBoundingClientRect();
  const seen = body?.getBoundingClientRect() ?? at;
  const room = body?.clientHeight ?? 0;
  // In a very low panel there is less room than that. The end has to come into view all the same.
  const rest = Math.min(kept, room) / 2;
  if (body !== null && at.bottom > seen.bottom) {
    body.scrollTop += Math.min(at.bottom - seen.bottom + rest, Math.max(kept, room - kept));
  } else if (body !== null && at.top < seen.top) {
    body.scrollTop -= seen.top - at.top + rest;
  } else {
    end.scrollIntoView({ block: "nearest" });
  }
}
