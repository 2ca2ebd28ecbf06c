import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";

// A machine that is busy with other things is slow, not wrong.
configure({ asyncUtilTimeout: 10_000 });

// What jsdom has not, or has otherwise than a page that the person is in.
Element.prototype.scrollIntoView = () => {};
window.matchMedia = () => Object.assign(new EventTarget(), { matches: false }) as MediaQueryList;
HTMLCanvasElement.prototype.getContext = () => null;
// Nothing is laid out here, so the list of messages is told that all its rows are in sight.
for (const name of ["clientHeight", "offsetHeight"] as const) {
  Object.defineProperty(HTMLElement.prototype, name, {
    configurable: true,
    get(this: HTMLElement) {
      return this.classList.contains("messages") ? 100_000 : 100;
    },
  });
}
// What has a size keeps it, so there is nothing to tell of it.
window.ResizeObserver = class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};

beforeEach(() => {
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
