import type { Outcome } from "@assent/protocol";
import { expect, test } from "vitest";
import { ask, at, elicitation, message } from "../testing/samples.ts";
import { askedFor } from "./asked.ts";
import type { Step } from "./timeline.ts";

/** A question that was open from one second to another of the call; until the call's end without a second number. */
function step(from: number, to?: number): Step {
  const outcome: Outcome | undefined =
    to === undefined ? undefined : { reason: "answered", at: at + to * 1000 };
  const open = ask(`a${from}`, elicitation(), outcome);
  const asked = { ...message(from + 10, open), time: at + from * 1000 };
  return { message: asked, ask: open, reviewed: false, told: undefined };
}

test.each<[string, readonly Step[], number]>([
  ["no question", [], 0],
  ["one", [step(2, 16)], 14],
  ["two, one after the other", [step(1, 2), step(4, 8)], 5],
  ["two at once", [step(4, 8), step(1, 5)], 7],
  ["one during another", [step(1, 8), step(2, 3)], 7],
  ["one that was asked before the call", [step(-5, -1)], 0],
  ["one that is open until the end", [step(15)], 2],
  ["one that was settled after the end", [step(16, 20)], 1],
])("the time for %s", (_name, steps, seconds) => {
  expect(askedFor(steps, at, at + 17_000)).toBe(seconds * 1000);
});
