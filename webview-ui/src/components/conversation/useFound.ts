import { type RefObject, useEffect, useRef, useState } from "react";
import type { Conversation } from "../../store/openTask.ts";
import type { Actions } from "../../store/session.ts";

/** A message that contains the searched text, and will be shown. */
export interface Found {
  readonly messageId: number;
  readonly text: string;
}

/** The name of the highlight, which conversation.css styles. */
const marks = "assent-found";

/** The most highlights of one message. */
const mostMarks = 200;

/**
 * Shows a search result: loads older messages until it is loaded, scrolls to it, and highlights the text in its row. It
 * does not move the focus.
 */
export function useFound(
  conversation: Conversation,
  actions: Actions,
  scroller: RefObject<HTMLElement | null>,
  /** Scrolls to a message. Returns the message with its row; undefined if it has none yet. */
  bring: (messageId: number) => number | undefined,
): { readonly row: number | undefined; readonly setFound: (found: Found | undefined) => void } {
  const [found, setFound] = useState<Found>();
  const [row, setRow] = useState<number>();
  const reached = useRef<Found>(undefined);
  const paged = useRef<string>(undefined);
  const { messages, earlier, paging } = conversation;
  useEffect(() => {
    if (found === undefined || reached.current === found || paging) return;
    const oldest = messages[0]?.id;
    const page = `${found.messageId} from ${oldest}`;
    // A failed page is not requested again.
    if (oldest !== undefined && found.messageId < oldest && earlier && paged.current !== page) {
      paged.current = page;
      actions.loadEarlier(found.messageId);
      return;
    }
    const at = bring(found.messageId);
    if (at !== undefined) reached.current = found;
    setRow(at);
  });
  useEffect(() => {
    mark(row, found?.text, scroller.current);
    return () => mark(undefined, undefined, null);
  });
  const choose = (next: Found | undefined) => {
    setFound(next);
    if (next === undefined) setRow(undefined);
  };
  return { row, setFound: choose };
}

function mark(rowId: number | undefined, text: string | undefined, list: HTMLElement | null): void {
  // Not every browser supports highlights. Others only show the message.
  if (typeof CSS === "undefined" || !("highlights" in CSS)) return;
  CSS.highlights.delete(marks);
  const row = list?.querySelector(`.rows > [aria-posinset="${rowId}"]`);
  if (text === undefined || row === null || row === undefined) return;
  CSS.highlights.set(marks, new Highlight(...rangesOf(row, text.toLowerCase())));
}

function rangesOf(row: Element, text: string): readonly Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const content = (node.nodeValue ?? "").toLowerCase();
    for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + text.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + text.length);
      ranges.push(range);
      if (ranges.length === mostMarks) return ranges;
    }
  }
  return ranges;
}
