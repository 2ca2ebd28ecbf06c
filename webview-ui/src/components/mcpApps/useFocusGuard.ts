import { type RefObject, useEffect, useEffectEvent, useRef } from "react";

/** How long after a key or a press in the panel the focus counts as moved by the person, in milliseconds. */
const recentMs = 500;

/** How often the guard looks who has the keys, and how often in a row that may be an app, which gets them meanwhile. */
const lookMs = 50;
const maxLooks = 2;

/**
 * Gives the focus back that an app took by itself. The person moves it into the frame with the Tab key or a press there:
 * of that press the panel sees only that the pointer is over the frame. If an app has the keys again and again while the
 * person is in a field, onTaken has to end it. The function that is returned gives the frame the focus for the person.
 */
export function useFocusGuard(
  frame: RefObject<HTMLIFrameElement | null>,
  onTaken: () => void,
): () => void {
  const takenTooOften = useEffectEvent(onTaken);
  const isLed = useRef(false); // until the window says that it has lost the focus
  useEffect(() => {
    let before: Element | null = document.activeElement;
    let looks = 0;
    let moved = false; // by the person, into the frame
    let tabbedAt = Number.NEGATIVE_INFINITY;
    let typedAt = Number.NEGATIVE_INFINITY;
    const over = new AbortController();
    const { signal } = over;
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === "Tab") tabbedAt = performance.now();
      else typedAt = performance.now();
    };
    const onFocus = ({ target }: FocusEvent) => {
      if (target === frame.current) return;
      if (target instanceof Element) before = target;
      moved = false;
      isLed.current = false;
    };
    const giveBack = () => {
      frame.current?.blur();
      if (!(before instanceof HTMLElement && before.isConnected)) return;
      before.blur(); // it may be the active element, and not get the keys
      before.focus({ preventScroll: true });
    };
    const onBlur = () => {
      const element = frame.current;
      if (element === null) return;
      const byTab = performance.now() - tabbedAt < recentMs;
      const byPress = element.matches(":hover") && performance.now() - typedAt >= recentMs;
      moved = byTab || byPress || isLed.current;
      isLed.current = false;
      if (!moved && document.activeElement === element) giveBack();
    };
    // In Chromium, an app can have the keys while a field of the panel is the active element. The field has no focus then.
    const look = () => {
      const at = document.activeElement;
      if (!isField(at) || at?.matches(":focus") || moved || !document.hasFocus()) {
        looks = 0;
        return;
      }
      looks += 1;
      if (looks < maxLooks) giveBack();
      else if (looks === maxLooks) takenTooOften();
    };
    const timer = setInterval(look, lookMs);
    window.addEventListener("keydown", onKey, { capture: true, signal });
    window.addEventListener("focusin", onFocus, { capture: true, signal });
    window.addEventListener("blur", onBlur, { signal });
    return () => {
      clearInterval(timer);
      over.abort();
    };
  }, [frame]);
  return () => {
    isLed.current = true;
    frame.current?.focus({ preventScroll: true });
  };
}

/** Reports whether an element takes what the person types. */
function isField(element: Element | null): boolean {
  return element?.matches("input, textarea, select, [contenteditable]") === true;
}
