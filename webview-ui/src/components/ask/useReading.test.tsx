import { act, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { watchInView } from "../../testing/inView.ts";
import { Clamp } from "../ui/Clamp.tsx";
import { AcceptButton } from "./AcceptButton.tsx";
import { AskCard } from "./AskCard.tsx";
import { armingMs, useClickGuard } from "./useClickGuard.ts";
import { useReading } from "./useReading.ts";

/** Tells the card whether its end is in view, as a browser with a layout does. */
let see: (inView: boolean) => void;

beforeEach(() => {
  vi.useFakeTimers();
  see = watchInView();
  onTestFinished(() => void vi.useRealTimers());
});

function Card({ onAllow, onAlways, onForm, phase, long }: Props) {
  const reading = useReading(phase);
  const ready = useClickGuard("asked", reading.state);
  return (
    <AskCard
      askId="a1"
      serverName="database"
      icon="tools"
      does="{0} asks"
      reading={reading}
      busy={false}
      actions={
        <AcceptButton
          label="Allow"
          {...{ reading, ready }}
          onClick={onAllow}
          moreLabel="More"
          entries={[
            { label: "Always", onChoose: onAlways },
            { label: "With…", opens: true, onChoose: onForm },
          ]}
        />
      }
    >
      {long === undefined ? (
        <p>DROP TABLE users</p>
      ) : (
        <Clamp keep="sql" text={long}>
          {long}
        </Clamp>
      )}
    </AskCard>
  );
}

interface Props {
  readonly onAllow: () => void;
  readonly onAlways: () => void;
  readonly onForm: () => void;
  readonly phase?: string;
  readonly long?: string;
}

function show(long?: string) {
  const ways = { onAllow: vi.fn(), onAlways: vi.fn(), onForm: vi.fn() };
  const scrolled = vi.fn();
  Element.prototype.scrollIntoView = scrolled;
  const drawn = render(<Card {...ways} {...(long !== undefined && { long })} />);
  return { ...drawn, ...ways, scrolled };
}

const arm = () => act(() => void vi.advanceTimersByTime(armingMs));
const press = (name: string, role: "button" | "menuitem" = "button") =>
  fireEvent.click(screen.getByRole(role, { name }));

test("a press reads on while the end was never in view, and only the next one answers", async () => {
  const { onAllow, scrolled, container } = show();
  see(false);
  arm();
  expect(screen.queryByRole("button", { name: "Allow" })).toBeNull();
  press("Read on");
  expect(scrolled).toHaveBeenCalledOnce();
  expect(screen.getByRole("status").textContent).toMatch(/^There is more of it/);
  see(true);
  expect(screen.getByRole("status").textContent).toMatch(/^All of it was in view/);
  // The second half of a double click is no answer.
  press("Allow");
  expect(onAllow).not.toHaveBeenCalled();
  arm();
  press("Allow");
  expect(onAllow).toHaveBeenCalledOnce();
  vi.useRealTimers();
  expect(await axeFindings(container)).toEqual([]);
});

test("what fits is answered with one press, and stays read when it grows", () => {
  const { onAllow } = show();
  see(true);
  see(false);
  arm();
  press("Allow");
  expect(onAllow).toHaveBeenCalledOnce();
});

test("nothing is answered before the browser has laid out the card", () => {
  const { onAllow } = show();
  arm();
  press("Allow");
  expect(onAllow).not.toHaveBeenCalled();
});

test("every way to accept waits for the end, and a way to a form of its own does not", () => {
  const { onAlways, onForm, scrolled } = show();
  see(false);
  arm();
  press("More");
  press("Always", "menuitem");
  expect(onAlways).not.toHaveBeenCalled();
  expect(scrolled).toHaveBeenCalledOnce();
  press("More");
  press("With…", "menuitem");
  expect(onForm).toHaveBeenCalledOnce();
});

test("what is behind a button is read, too", () => {
  const { onAllow } = show("DROP TABLE users; ".repeat(200));
  see(true);
  arm();
  // The end is in view. The press shows the rest, and then the end is below it.
  press("Read on");
  expect(screen.getByRole("button", { name: "Show less" })).toBeDefined();
  see(false);
  arm();
  press("Read on");
  expect(onAllow).not.toHaveBeenCalled();
  see(true);
  arm();
  press("Allow");
  expect(onAllow).toHaveBeenCalledOnce();
});

// The card's height is scrolled by 24 pixels at a time where it has less room, so its end is often passed.
test.each([5, 10, 60, 300])("in a room of %i pixels the end comes into view", (room) => {
  const { container, scrolled } = show();
  const body = container.querySelector(".ask-body") ?? expect.fail("there is no body");
  const end = body.querySelector(".read-to") ?? expect.fail("there is no end");
  const height = 1301;
  vi.spyOn(body, "clientHeight", "get").mockReturnValue(room);
  vi.spyOn(body, "getBoundingClientRect").mockReturnValue(new DOMRect(0, 100, 300, room));
  vi.spyOn(end, "getBoundingClientRect").mockImplementation(
    () => new DOMRect(0, 100 + height - body.scrollTop, 300, 1),
  );
  const inView = () => body.scrollTop <= height && body.scrollTop >= height + 1 - room;
  see(false);
  arm();
  for (let presses = 0; presses < 100 && !inView(); presses++) press("Read on");
  expect(inView()).toBe(true);
  expect(scrolled).not.toHaveBeenCalled();
});

test("another phase of the card is read anew", () => {
  const { rerender, onAllow, ...ways } = show();
  see(true);
  rerender(<Card {...ways} onAllow={onAllow} phase="plain" />);
  see(false);
  arm();
  press("Read on");
  expect(onAllow).not.toHaveBeenCalled();
});

test.each([
  ["Linux x86_64", "Ctrl+Enter", "Ctrl+⏎"],
  ["Win32", "Ctrl+Enter", "Ctrl+⏎"],
  ["MacIntel", "⌘⏎", "⌘⏎"],
])("the keys of %s are on the button and in its tooltip", (platform, words, short) => {
  vi.spyOn(navigator, "platform", "get").mockReturnValue(platform);
  show();
  see(true);
  const button = screen.getByRole("button", { name: "Allow" });
  expect(button.title).toBe(`Allow (${words})`);
  expect(button.querySelector(".keys")?.textContent).toBe(short);
});
