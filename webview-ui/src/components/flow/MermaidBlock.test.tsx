import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import type { Drawing } from "./drawing.ts";
import { MermaidBlock } from "./MermaidBlock.tsx";

const description = "It is with you.";
const code = "sequenceDiagram\nparticipant person as You";

/** Tells the block how wide it is, as a browser does. */
let resize: (width: number) => void;
let stillness: EventTarget & { matches: boolean };

beforeEach(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(told: ResizeObserverCallback) {
        resize = (width) => {
          const entry = { contentRect: { width } } as ResizeObserverEntry;
          act(() => told([entry], this as unknown as ResizeObserver));
        };
      }
      observe(): void {}
      disconnect(): void {}
    },
  );
  stillness = Object.assign(new EventTarget(), { matches: false });
  vi.stubGlobal("matchMedia", () => stillness);
});
afterEach(() => {
  vi.unstubAllGlobals();
  document.body.removeAttribute("style");
});

/** A drawing that the test ends as it likes. */
function drawings() {
  const asked: { drawing: Drawing; done: (url: string) => void; fail: (error: Error) => void }[] =
    [];
  const draw = (drawing: Drawing) =>
    new Promise<string>((done, fail) => asked.push({ drawing, done, fail }));
  return { asked, draw };
}

const url = (svg: string) => `data:image/svg+xml,${encodeURIComponent(svg)}`;

describe("a diagram", () => {
  test("is words until it is drawn, and a picture with these words then", async () => {
    const { asked, draw } = drawings();
    const { container } = render(<MermaidBlock {...{ code, description, draw }} />);
    expect(screen.getByText(description)).toBeTruthy();
    expect(asked).toHaveLength(0);
    resize(300);
    await act(async () => asked[0]?.done(url("<svg/>")));
    expect(screen.getByRole("img", { name: description }).getAttribute("src")).toBe(url("<svg/>"));
    expect(screen.queryByText(description)).toBeNull();
    expect(container.querySelector("[aria-live], [role=status], [role=alert]")).toBeNull();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("that cannot be drawn is words", async () => {
    const { asked, draw } = drawings();
    render(<MermaidBlock {...{ code, description, draw }} />);
    resize(300);
    await act(async () => asked[0]?.fail(new Error("no frame")));
    expect(screen.getByText(description)).toBeTruthy();
  });

  test("that the browser cannot show is words", async () => {
    const { asked, draw } = drawings();
    render(<MermaidBlock {...{ code, description, draw }} />);
    resize(300);
    await act(async () => asked[0]?.done(url("no picture")));
    fireEvent.error(screen.getByRole("img"));
    expect(screen.getByText(description)).toBeTruthy();
  });

  test("shows the last requested diagram, in any order of the drawings", async () => {
    const { asked, draw } = drawings();
    const block = (node: string) => (
      <MermaidBlock {...{ code, description, draw }} highlightNodes={[node]} />
    );
    const { rerender } = render(block("person"));
    resize(300);
    rerender(block("person"));
    expect(asked).toHaveLength(1);
    rerender(block("model"));
    expect(asked.map(({ drawing }) => drawing.highlightNodes)).toEqual([["person"], ["model"]]);
    await act(async () => asked[1]?.done(url("<svg>2</svg>")));
    await act(async () => asked[0]?.done(url("<svg>1</svg>")));
    expect(screen.getByRole("img").getAttribute("src")).toBe(url("<svg>2</svg>"));
  });

  test("is drawn for the width that there is, in steps, and within limits", () => {
    const { asked, draw } = drawings();
    render(<MermaidBlock {...{ code, description, draw }} />);
    for (const width of [302, 309, 311, 90, 2000]) resize(width);
    expect(asked.map(({ drawing }) => drawing.width)).toEqual([300, 310, 200, 560]);
  });

  test("pulses only on request, and if the person allows motion", () => {
    const { asked, draw } = drawings();
    const { rerender } = render(<MermaidBlock {...{ code, description, draw }} />);
    resize(300);
    rerender(<MermaidBlock {...{ code, description, draw }} animating />);
    act(() => {
      stillness.matches = true;
      stillness.dispatchEvent(new Event("change"));
    });
    const pulses = asked.map(({ drawing }) => drawing.css.includes("animation:"));
    expect(pulses).toEqual([false, true, false]);
  });

  test("has the theme's colours, and new ones with a new theme", async () => {
    document.body.style.setProperty("--vscode-focusBorder", "#0078d4");
    document.body.style.setProperty("--vscode-foreground", "red } svg { display: none");
    const { asked, draw } = drawings();
    render(<MermaidBlock {...{ code, description, draw }} />);
    resize(300);
    expect(asked[0]?.drawing.css).toContain("stroke: #0078d4;");
    expect(asked[0]?.drawing.css).not.toContain("display: none");
    document.body.style.setProperty("--vscode-focusBorder", "#f38518");
    await expect.poll(() => asked).toHaveLength(2);
    expect(asked[1]?.drawing.css).toContain("stroke: #f38518;");
  });
});
