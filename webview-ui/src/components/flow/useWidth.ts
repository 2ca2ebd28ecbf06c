import { type RefObject, useEffect, useState } from "react";

/** The step in pixels, so that a drawing is repeated only after a real change of width. */
const step = 10;

/** Returns the width of an element, rounded down to steps; 0 until it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width / step) * step);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
