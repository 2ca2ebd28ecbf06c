import { type RefObject, useEffect, useRef, useState } from "react";
import type { Actions } from "../../session.ts";
import type { Conversation } from "../../state/state.ts";

/** A message in which a text was found, and is to be seen. */
export interface Found {
  readonly messageId: number;
  readonly text: string;
}

/** The name of the marks; conversation.css says how they look. */
const marks = "assent-found";

/** As many marks as one message may need. */
const mostMarks = 200;

/**
 * Leads to what was found: reads older messages until it is here, has it brought into view, and marks the text in
 * its row. Nothing else takes part in it, the focus least of all.
 */
export function useFound(
  conversation: Conversation,
  actions: Actions,
  scroller: RefObject<HTMLElement | null>,
  /** Brings a message into view; says whether it has a row. */
  bring: (messageId: number) => boolean,
): { readonly found: Found | undefined; readonly setFound: (found: Found | undefined) => void } {
  const [found, setFound] = useState<Found>();
  const reached = useRef<Found>(undefined);
  const paged = useRef<string>(undefined);
  const { messages, earlier, paging } = conversation;
  useEffect(() => {
    if (found === undefined || reached.current === found || paging) return;
    const oldest = messages[0]?.id;
    const page = `${found.messageId} from ${oldest}`;
    // A page that did not come is not asked for again and again.
    if (oldest !== undefined && found.messageId < oldest && earlier && paged.current !== page) {
      paged.current = page;
      actions.loadEarlier(found.messageId);
      return;
    }
    if (bring(found.messageId)) reached.current = found;
  });
  useEffect(() => {
    mark(found, scroller.current);
    return () => mark(undefined, null);
  });
  return { found, setFound };
}

function mark(found: Found | undefined, list: HTMLElement | null): void {
  // Not every browser has it: there the message is shown, and no more.
  if (typeof CSS === "undefined" || !("highlights" in CSS)) return;
  CSS.highlights.delete(marks);
  const row = found && list?.querySelector(`.rows > [aria-posinset="${found.messageId}"]`);
  if (found === undefined || row === null || row === undefined) return;
  CSS.highlights.set(marks, new Highlight(...rangesOf(row, found.text.toLowerCase())));
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
