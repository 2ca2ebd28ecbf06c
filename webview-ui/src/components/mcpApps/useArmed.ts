import { type RefObject, useEffect, useState } from "react";

/** How long a frame must have stayed in its place before it takes the pointer, in milliseconds. */
const stillMs = 500;
const lookMs = 100;

/**
 * Reports whether a frame may take the pointer: it has been in view, at the same place, for half a second. So it cannot
 * appear or move under a click that was meant for something else.
 */
export function useArmed(frame: RefObject<HTMLElement | null>): boolean {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    let place = "";
    let since = performance.now();
    const look = () => {
      const element = frame.current;
      if (element === null) return;
      const { left, top, width, bottom } = element.getBoundingClientRect();
      const inView = bottom > 0 && top < window.innerHeight && !document.hidden;
      const now = `${inView} ${Math.round(left)} ${Math.round(top)} ${Math.round(width)}`;
      if (now !== place || !inView) {
        place = now;
        since = performance.now();
      }
      setArmed(inView && performance.now() - since >= stillMs);
    };
    const timer = setInterval(look, lookMs);
    return () => clearInterval(timer);
  }, [frame]);
  return armed;
}
