import { cleanup } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";

// What jsdom has not, or has otherwise than a page that the person is in.
Element.prototype.scrollIntoView = () => {};

beforeEach(() => {
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
