import { act } from "@testing-library/react";
import { onTestFinished, vi } from "vitest";

/**
 * Replaces the browser's IntersectionObserver until the test ends. Returns what tells the last observer whether its
 * element is in view, as a browser with a layout does.
 */
export function watchInView(): (inView: boolean) => void {
  let tell: (inView: boolean) => void = () => {
    throw new Error("nothing is watched");
  };
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(callback: IntersectionObserverCallback) {
        tell = (isIntersecting) =>
          act(() => callback([{ isIntersecting } as IntersectionObserverEntry], this as never));
      }
      observe(): void {}
      unobserve(): void {}
      disconnect(): void {}
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
  return (inView) => tell(inView);
}
