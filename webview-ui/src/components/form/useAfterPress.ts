import { useCallback, useEffect, useRef } from "react";

/**
 * Returns a function that does something once no button of the mouse is down any more. What is told
 * as the person leaves a field moves everything below it; done while they press, the press would
 * slip off its target and be lost.
 */
export function useAfterPress(): (act: () => void) => void {
  const pressed = useRef(false);
  useEffect(() => {
    const down = () => {
      pressed.current = true;
    };
    const up = () => {
      pressed.current = false;
    };
    window.addEventListener("pointerdown", down, true);
    window.addEventListener("pointerup", up, true);
    window.addEventListener("pointercancel", up, true);
    return () => {
      window.removeEventListener("pointerdown", down, true);
      window.removeEventListener("pointerup", up, true);
      window.removeEventListener("pointercancel", up, true);
    };
  }, []);
  return useCallback((act: () => void) => {
    if (!pressed.current) {
      act();
      return;
    }
    // The click comes right after the release.
    const later = () => setTimeout(act);
    window.addEventListener("pointerup", later, { once: true });
  }, []);
}
