import { type ComponentProps, type RefObject, useEffect, useRef } from "react";
import { mayTakeFocus, parkFocus } from "../ui/focus.ts";

/**
 * Remembers which element had the focus before it moved into `root`. When `root` becomes empty, that element gets the
 * focus back; if it is gone, onLeave is called.
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
      // There is no relatedTarget if the focused element was removed or the window lost the focus.
      if (relatedTarget !== null && !root.current?.contains(relatedTarget))
        isInside.current = false;
    },
  };
}
