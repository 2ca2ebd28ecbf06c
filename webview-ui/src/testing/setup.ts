import { cleanup, configure } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";

// A machine that is busy with other things is slow, not wrong.
configure({ asyncUtilTimeout: 10_000 });

// What jsdom has not, or has otherwise than a page that the person is in.
Element.prototype.scrollIntoView = () => {};
window.matchMedia = () => Object.assign(new EventTarget(), { matches: false }) as MediaQueryList;
// Nothing has a size here, so there is nothing to tell of one.
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
