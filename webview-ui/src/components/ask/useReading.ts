import * as l10n from "@vscode/l10n";
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
 * Watches whether the end of a question comes into view, with nothing left behind a button such as "Show all". What was
 * in view once stays read, also if it grows; another `phase` of the card starts again.
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
        setNow((now) => (now.state === "read" || now.state === state ? now : { ...now, state })),
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

/** What a screen reader says after a press that only scrolled. */
export function readingSaid({ state, scrolled }: Reading): string | undefined {
  if (!scrolled) return;
  return state === "read"
    ? l10n.t("All of it was in view now. Press again to answer.")
    : l10n.t("There is more of it. Press again to read on.");
}

/** Without a layout there is nothing to scroll. */
function canWatch(): boolean {
  return typeof IntersectionObserver !== "undefined";
}

/** Tells when the element comes into view. A picture above it has its height only when it is loaded. */
function watch(element: HTMLElement, onChange: (state: "unread" | "read") => void): () => void {
  const card = element.closest(".ask-card");
  const controller = new AbortController();
  const observer = new IntersectionObserver((entries) => {
    const inView = (entries.at(-1)?.isIntersecting ?? false) && moreBefore(element) === undefined;
    const loading = [...(card?.querySelectorAll("img") ?? [])].filter(({ complete }) => !complete);
    if (!inView || loading.length === 0) {
      onChange(inView ? "read" : "unread");
      return;
    }
    void Promise.allSettled(loading.map((image) => image.decode())).then(() => {
      if (!controller.signal.aborted) lookAgain();
    });
  });
  // It is told of the present state whenever it begins.
  const lookAgain = () => {
    observer.unobserve(element);
    observer.observe(element);
  };
  observer.observe(element);
  // A click may show more, while the end stays where it is.
  card?.addEventListener("click", lookAgain, { signal: controller.signal });
  return () => {
    controller.abort();
    observer.disconnect();
  };
}

/** The first button before the end of a question behind which is more of it. */
function moreBefore(end: HTMLElement): HTMLElement | undefined {
  const buttons = end.parentElement?.querySelectorAll<HTMLElement>("[data-shows-more]") ?? [];
  return [...buttons].find(
    (button) =>
      (button.compareDocumentPosition(end) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0 &&
      button.closest("[hidden]") === null,
  );
}

/** How much of the read part stays in view, in pixels: about a line. */
const kept = 24;

/** Scrolls the question by its height in view, or to its end or to where it shows more, if that is nearer. */
function scrollOn(end: HTMLElement): void {
  const body = end.closest(".page") ?? end.closest(".ask-body, .server-definition");
  const more = moreBefore(end);
  const at = (more ?? end).getBoundingClientRect();
  const seen = body?.getBoundingClientRect() ?? at;
  const room = body?.clientHeight ?? 0;
  // In a very low panel there is less room than that. The end has to come into view all the same.
  const rest = Math.min(kept, room) / 2;
  if (body !== null && at.bottom > seen.bottom) {
    body.scrollTop += Math.min(at.bottom - seen.bottom + rest, Math.max(kept, room - kept));
  } else if (body !== null && at.top < seen.top) {
    body.scrollTop -= seen.top - at.top + rest;
  } else if (more === undefined) {
    end.scrollIntoView({ block: "nearest" });
  } else {
    more.click();
  }
}
