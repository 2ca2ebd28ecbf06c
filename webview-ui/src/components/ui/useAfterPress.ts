import { useCallback, useEffect, useRef } from "react";

/**
 * Returns a function that runs something when no mouse button is pressed. What appears in the panel moves everything below
 * it. During a press, the pointer would miss its target.
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
    // The click event follows the release.
    const later = () => setTimeout(act);
    window.addEventListener("pointerup", later, { once: true });
  }, []);
}
