import { act, fireEvent, render, screen } from "@testing-library/react";
import { useEffect, useRef } from "react";
import { expect, test, vi } from "vitest";
import { useArmed } from "./useArmed.ts";
import { useFocusGuard } from "./useFocusGuard.ts";
import { useRoom } from "./useRoom.ts";

function Guarded({ onTaken }: { readonly onTaken: () => void }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const armed = useArmed(frame);
  const lead = useFocusGuard(frame, onTaken);
  return (
    <>
      <input aria-label="Message" />
      <button type="button" onClick={lead}>
        Lead
      </button>
      <iframe ref={frame} title="app" data-armed={armed} />
    </>
  );
}

/** Shows a frame at a place that can change, and the focus that it takes. */
function show() {
  vi.useFakeTimers();
  const taken = vi.fn();
  render(<Guarded onTaken={taken} />);
  const frame = screen.getByTitle<HTMLIFrameElement>("app");
  const place = { left: 0, top: 100, width: 300, bottom: 300 };
  vi.spyOn(frame, "getBoundingClientRect").mockImplementation(() => place as DOMRect);
  const pass = (ms: number) => act(() => vi.advanceTimersByTime(ms));
  const takeFocus = () => {
    act(() => frame.focus());
    fireEvent.blur(window);
    return document.activeElement;
  };
  return { frame, place, pass, taken, takeFocus, field: screen.getByLabelText("Message") };
}

test("a frame takes the pointer after half a second at one place in view", () => {
  const { frame, place, pass } = show();
  pass(500);
  expect(frame.dataset["armed"]).toBe("false");
  pass(200);
  expect(frame.dataset["armed"]).toBe("true");
  place.top = 80;
  pass(100);
  expect(frame.dataset["armed"]).toBe("false");
  pass(600);
  expect(frame.dataset["armed"]).toBe("true");
  place.top = 100_000;
  pass(2000);
  expect(frame.dataset["armed"]).toBe("false");
});

test("an app does not take the focus by itself", () => {
  const { field, takeFocus } = show();
  field.focus();
  expect(takeFocus()).toBe(field);
});

test("the Tab key leads into an app", () => {
  const { field, frame, takeFocus } = show();
  field.focus();
  fireEvent.keyDown(field, { key: "Tab" });
  expect(takeFocus()).toBe(frame);
});

test("a press in an app leads there, but not while the person types elsewhere", () => {
  const { field, frame, pass, takeFocus } = show();
  const matches = frame.matches.bind(frame);
  vi.spyOn(frame, "matches").mockImplementation((what) => what === ":hover" || matches(what));
  field.focus();
  fireEvent.keyDown(field, { key: "a" });
  expect(takeFocus()).toBe(field);
  pass(600);
  expect(takeFocus()).toBe(frame);
});

test("the panel leads into an app, once", () => {
  const { field, frame, takeFocus } = show();
  fireEvent.click(screen.getByRole("button", { name: "Lead" }));
  fireEvent.blur(window);
  expect(document.activeElement).toBe(frame);
  field.focus();
  expect(takeFocus()).toBe(field);
});

/** In Chromium, an app can have the keys while a field is the active element. */
function takeKeys(field: HTMLElement) {
  vi.spyOn(document, "hasFocus").mockReturnValue(true);
  const matches = field.matches.bind(field);
  vi.spyOn(field, "matches").mockImplementation((what) => what !== ":focus" && matches(what));
}

test("an app that has the keys of a field again and again is reported once", () => {
  const { field, taken, pass } = show();
  field.focus();
  takeKeys(field);
  pass(50);
  expect(taken).not.toHaveBeenCalled();
  pass(1000);
  expect(taken).toHaveBeenCalledTimes(1);
});

test("an app that takes the keys once gives them back", () => {
  const { field, taken, pass } = show();
  field.focus();
  takeKeys(field);
  pass(50);
  vi.mocked(field.matches).mockReturnValue(true);
  pass(1000);
  expect(taken).not.toHaveBeenCalled();
});

test("a window that is left is no app that takes the keys", () => {
  const { field, taken, pass } = show();
  field.focus();
  takeKeys(field);
  vi.mocked(document.hasFocus).mockReturnValue(false);
  pass(1000);
  expect(taken).not.toHaveBeenCalled();
});

function Roomy({ wanted }: { readonly wanted: number }) {
  const { room, height, want } = useRoom(300);
  useEffect(() => want(wanted), [want, wanted]);
  return (
    <div ref={room} data-testid="room">
      <iframe title="app" style={{ height }} />
    </div>
  );
}

/** Shows an app that wants heights, one after the other. */
function showRoom() {
  vi.useFakeTimers();
  const { rerender } = render(<Roomy wanted={300} />);
  const frame = screen.getByTitle<HTMLIFrameElement>("app");
  const room = screen.getByTestId("room");
  const matches = room.matches.bind(room);
  let over = false;
  vi.spyOn(room, "matches").mockImplementation((what) =>
    what === ":hover" ? over : matches(what),
  );
  return {
    frame,
    height: () => Number.parseInt(frame.style.height, 10),
    want: (wanted: number) => rerender(<Roomy wanted={wanted} />),
    pass: (ms: number) => act(() => vi.advanceTimersByTime(ms)),
    pointer: (isOver: boolean) => {
      over = isOver;
    },
  };
}

test("an app gets higher and lower as it wants", () => {
  const { height, want } = showRoom();
  want(400);
  expect(height()).toBe(400);
  want(60);
  expect(height()).toBe(60);
});

test("an app does not get lower under the pointer, but higher", () => {
  const { height, want, pass, pointer } = showRoom();
  pointer(true);
  want(60);
  pass(10_000);
  expect(height()).toBe(300);
  want(320);
  expect(height()).toBe(320);
  want(60);
  pointer(false);
  pass(400);
  expect(height()).toBe(320);
  pass(300);
  expect(height()).toBe(60);
});

test("an app does not get lower in the moment when it gets the focus", () => {
  const { frame, height, want, pass } = showRoom();
  act(() => frame.focus());
  want(60);
  expect(height()).toBe(300);
  pass(700);
  expect(height()).toBe(60);
});
