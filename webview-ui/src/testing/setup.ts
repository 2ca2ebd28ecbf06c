import { cleanup, configure } from "@testing-library/react";
import * as React from "react";
import { afterEach, beforeEach, vi } from "vitest";
import { limits, waitLimitMs } from "../../../vitest.limits.ts";

configure({ asyncUtilTimeout: waitLimitMs });

// An app here is as slow as the machine. Only a test that moves the clock reaches its limit.
vi.mock("../components/mcpApps/limits.ts", () => ({ waitLimitMs: limits.testTimeout }));

// React notes the stack at which each element was made, for people who look at components in a debugger. That is a
// seventh of the time of these tests. It stops after ten thousand elements in a second, and counts none here.
Object.defineProperty(
  Reflect.get(React, "__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE") as object,
  "recentlyCreatedOwnerStacks",
  { get: () => Number.POSITIVE_INFINITY, set() {} },
);

// What jsdom lacks, or does differently from a page in use.
Element.prototype.scrollIntoView = () => {};
window.matchMedia = () => Object.assign(new EventTarget(), { matches: false }) as MediaQueryList;
HTMLCanvasElement.prototype.getContext = () => null;
// A dialog is not modal here. It is shown, which is enough for its roles and keys.
HTMLDialogElement.prototype.showModal = function showModal() {
  this.open = true;
  this.querySelector<HTMLElement>("button")?.focus();
};
HTMLDialogElement.prototype.close = function close() {
  this.open = false;
};
// Nothing is laid out here, so all rows of a list of messages count as visible.
for (const name of ["clientHeight", "offsetHeight"] as const) {
  Object.defineProperty(HTMLElement.prototype, name, {
    configurable: true,
    get(this: HTMLElement) {
      return this.classList.contains("messages") ? 100_000 : 100;
    },
  });
}
// Sizes never change here, so there is nothing to report.
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
