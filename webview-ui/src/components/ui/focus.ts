import type { Message } from "@assent/protocol";

/** The element that takes the focus for an ask. */
export function askElementId(askId: string): string {
  return `ask-${askId}`;
}

/** Scrolls to a rendered ask and focuses it. Reports whether it is rendered. */
export function focusAsk(askId: string): boolean {
  const element = document.getElementById(askElementId(askId));
  element?.focus({ preventScroll: true });
  element?.scrollIntoView({ block: "nearest" });
  return element !== null;
}

/** The ask that has the focus, settled or not. */
export function focusedAskId(): string | undefined {
  const prefix = askElementId("");
  const element = document.activeElement?.closest(`[id^="${prefix}"]`);
  return element?.id.slice(prefix.length);
}

/** The element that takes the focus for a message of the open task. */
export function messageElementId(messageId: number): string {
  return `message-${messageId}`;
}

/** Focuses a message's row, which is rendered and in view. */
export function focusRow({ id, body }: Message): void {
  const settled = body.type === "ask" && body.outcome !== undefined;
  const elementId = settled ? askElementId(body.askId) : messageElementId(id);
  const element = document.getElementById(elementId);
  if (settled && element !== null) parkFocus(element);
  else element?.focus({ preventScroll: true });
}

/** Marks an element that has the focus only because there was no better place. */
export const parkedFocus = { tabIndex: -1, "data-parked-focus": "" } as const;

const parked = "data-parked-focus";

/**
 * Focuses an element because there is no better place. A new question may take the focus from it until the person
 * presses a key or the pointer in the element.
 */
export function parkFocus(element: HTMLElement): void {
  element.focus({ preventScroll: true });
  if (element.hasAttribute(parked)) return;
  element.setAttribute(parked, "");
  const used = new AbortController();
  const { signal } = used;
  for (const type of ["keydown", "pointerdown", "input", "blur"]) {
    const unpark = () => {
      element.removeAttribute(parked);
      used.abort();
    };
    element.addEventListener(type, unpark, { signal });
  }
}

/**
 * Reports whether a new question may take the focus: the page has it, and the person uses no control. A page without
 * the focus must not request it, because that could take it from the editor.
 */
export function mayTakeFocus(): boolean {
  const at = document.activeElement;
  return document.hasFocus() && (at === null || at === document.body || at.hasAttribute(parked));
}
