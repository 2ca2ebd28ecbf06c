import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { drawImage as DrawImage } from "./drawImage.ts";
import type { Drawing, Drawn } from "./drawing.ts";

// The panel's side alone. The frame's needs a browser that lays text out: scripts/e2e has it.
vi.mock("./mermaidFrame.ts?script", () => ({ default: 'say("<!-- <script>")' }));

const drawing: Drawing = {
  code: "sequenceDiagram",
  highlightNodes: [],
  width: 300,
  fontFamily: "sans-serif",
  fontSize: 13,
  css: "",
};

let drawImage: typeof DrawImage;
const frames = () => document.querySelectorAll("iframe");

/** What the frames were told, and how they answer. */
let told: unknown[];
let answer: ((drawing: unknown) => Drawn) | undefined;

beforeEach(async () => {
  vi.resetModules();
  ({ drawImage } = await import("./drawImage.ts"));
  told = [];
  vi.spyOn(HTMLIFrameElement.prototype, "contentWindow", "get").mockReturnValue({
    postMessage(data: unknown, _origin: string, [port]: readonly MessagePort[]) {
      told.push(data);
      if (answer !== undefined) port?.postMessage(answer(data));
    },
  } as unknown as Window);
});
afterEach(() => {
  for (const frame of frames()) frame.remove();
});

describe("the frame that draws", () => {
  test("can run its script and nothing else, and is there once", async () => {
    const script = document.createElement("script");
    script.nonce = "n0nce";
    script.setAttribute("nonce", "n0nce");
    script.type = "application/json";
    document.head.append(script);
    answer = () => ({ svg: "<svg>&#35;</svg>" });
    expect(await drawImage(drawing)).toBe(
      `data:image/svg+xml,${encodeURIComponent("<svg>&#35;</svg>")}`,
    );
    await drawImage(drawing);
    script.remove();
    expect(told).toEqual([drawing, drawing]);
    expect(frames()).toHaveLength(1);
    const [frame] = frames();
    expect(frame?.getAttribute("sandbox")).toBe("allow-scripts");
    expect(frame?.srcdoc).toBe(
      '<!DOCTYPE html><body><script nonce="n0nce">say("\\x3C!-- \\x3Cscript>")</script>',
    );
  });

  test("reports a failed drawing", async () => {
    answer = () => ({ problem: "Parse error on line 1" });
    await expect(drawImage(drawing)).rejects.toThrow("could not draw it: Parse error on line 1");
    expect(frames()).toHaveLength(1);
  });

  test("cannot hand over more than a picture", async () => {
    answer = () => ({ svg: "x".repeat(500_001) });
    await expect(drawImage(drawing)).rejects.toThrow("too large");
  });

  test("is waited for so long, and replaced when it was silent", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    answer = undefined;
    const silent = drawImage(drawing);
    silent.catch(() => {});
    await expect.poll(() => told).toHaveLength(1);
    vi.advanceTimersByTime(20_000);
    await expect(silent).rejects.toThrow("silent");
    expect(frames()).toHaveLength(0);
    answer = () => ({ svg: "<svg/>" });
    vi.useRealTimers();
    await drawImage(drawing);
    expect(frames()).toHaveLength(1);
  });
});
