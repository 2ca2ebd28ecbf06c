import { type ComponentProps, type RefObject, useEffect, useRef } from "react";
import { mayTakeFocus, parkFocus } from "../chat/focus.ts";

/**
 * Remembers where the focus was before it came into an element, and puts it back there when there is
 * nothing left in the element to have it.
 */
export function useReturnFocus(
  root: RefObject<HTMLElement | null>,
  isEmpty: boolean,
  onLeave: () => void,
): Pick<ComponentProps<"section">, "onFocus" | "onBlur"> {
  const isInside = useRef(false);
  const before = useRef<EventTarget>(null);
  const leave = useRef(onLeave);
  leave.current = onLeave;
  useEffect(() => {
    if (!isEmpty || !isInside.current) return;
    isInside.current = false;
    if (!mayTakeFocus()) return;
    const at = before.current;
    before.current = null;
    if (at instanceof HTMLElement && at.isConnected && at.tabIndex >= 0) parkFocus(at);
    else leave.current();
  }, [isEmpty]);
  return {
    onFocus: ({ relatedTarget }) => {
      if (isInside.current || root.current?.contains(relatedTarget)) return;
      isInside.current = true;
      before.current = relatedTarget;
    },
    onBlur: ({ relatedTarget }) => {
      // What goes away with its focus, and a window that loses it, name nothing.
      if (relatedTarget !== null && !root.current?.contains(relatedTarget))
        isInside.current = false;
    },
  };
}
