import type { Message } from "@assent/protocol";
import { render } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { message } from "../../testing/samples.ts";
import { ViewStateStore } from "../../viewState.ts";
import { ViewContext } from "../ViewContext.ts";
import { useStickyScroll } from "./useStickyScroll.ts";

// jsdom measures nothing, so here each message is 100 pixels high and the panel shows two and a half.
const rowHeight = 100;
const panelHeight = 250;

beforeEach(() => {
  const measure = (name: string, get: (this: HTMLElement) => number) =>
    Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get });
  measure("clientHeight", () => panelHeight);
  measure("scrollHeight", function () {
    return this.querySelectorAll("li").length * rowHeight;
  });
  measure("offsetTop", function () {
    return [...(this.parentElement?.children ?? [])].indexOf(this) * rowHeight;
  });
});

afterEach(() => {
  for (const name of ["clientHeight", "scrollHeight", "offsetTop"]) {
    Reflect.deleteProperty(HTMLElement.prototype, name);
  }
});

function Panel({ messages }: { readonly messages: readonly Message[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  useStickyScroll(scroller, messages);
  return (
    <div ref={scroller} data-testid="panel">
      <ol className="rows">
        {messages.map(({ id }) => (
          <li key={id} />
        ))}
      </ol>
    </div>
  );
}

function messages(first: number, last: number): readonly Message[] {
  return Array.from({ length: last - first + 1 }, (_, n) =>
    message(first + n, { type: "notice", level: "info", text: "" }),
  );
}

function show(shown: readonly Message[], scrollTop?: number) {
  const save = vi.fn();
  const view = new ViewStateStore({ load: () => ({ scrollTop }), save });
  const draw = (now: readonly Message[]) => (
    <ViewContext value={view}>
      <Panel messages={now} />
    </ViewContext>
  );
  const { rerender, getByTestId } = render(draw(shown));
  const panel = getByTestId("panel");
  return {
    panel,
    view,
    change: (now: readonly Message[]) => rerender(draw(now)),
    scroll(top: number) {
      panel.scrollTop = top;
      panel.dispatchEvent(new Event("scroll"));
      panel.dispatchEvent(new Event("scrollend"));
    },
  };
}

// A browser would stop at the last whole screen; these are the places that are asked for.

test("the newest message comes into view from its beginning", () => {
  const { panel, change } = show(messages(1, 4));
  change(messages(1, 5));
  expect(panel.scrollTop).toBe(400);
});

test("a message that grows stays in view", () => {
  const { panel, change } = show(messages(1, 4));
  change([...messages(1, 4)]);
  expect(panel.scrollTop).toBe(400);
});

test("who scrolled up is left there, until they come back down", () => {
  const { panel, view, change, scroll } = show(messages(1, 6));
  scroll(120);
  expect(view.get().scrollTop).toBe(120);
  change(messages(1, 7));
  expect(panel.scrollTop).toBe(120);
  scroll(700 - panelHeight);
  expect(view.get().scrollTop).toBeUndefined();
  change(messages(1, 8));
  expect(panel.scrollTop).toBe(700);
});

test("a view that comes back is where it was", () => {
  const { panel, change } = show([], 130);
  change(messages(1, 6));
  expect(panel.scrollTop).toBe(130);
  change(messages(1, 7));
  expect(panel.scrollTop).toBe(130);
});

test("older messages above leave what is read in its place", () => {
  const { panel, change, scroll } = show(messages(5, 9));
  scroll(0);
  change(messages(2, 9));
  expect(panel.scrollTop).toBe(3 * rowHeight);
});
