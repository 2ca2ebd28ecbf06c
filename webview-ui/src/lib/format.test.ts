import { expect, test } from "vitest";
import { briefly, duration, elapsed, json, money } from "./format.ts";

test("money is as exact as it matters", () => {
  expect([0, 0.000_01, 0.0099, 0.01, 0.012_345, 0.5, 1, 12.345].map(money)).toEqual([
    "free",
    "less than $0.01",
    "less than $0.01",
    "$0.01",
    "$0.0123",
    "$0.50",
    "$1.00",
    "$12.35",
  ]);
});

test("durations are as exact as they are short", () => {
  expect([0, 950, 1501, 12_345, 61_000].map(duration)).toEqual([
    "0 ms",
    "950 ms",
    "1.5 s",
    "12 s",
    "1 min 1 s",
  ]);
  // The clocks of two processes may differ.
  expect(duration(-5)).toBe("0 ms");
  expect(elapsed(-5)).toBe("0 s");
  expect([3_600_000, 86_399_000, 90_000_000].map(elapsed)).toEqual([
    "1 h 0 min",
    "23 h 59 min",
    "1 d 1 h",
  ]);
});

test("a list has the time of today, the day of this year, and the year of others", () => {
  const now = new Date(2026, 10, 21, 14, 30).getTime();
  expect(briefly(new Date(2026, 10, 21, 9, 5).getTime(), now)).toMatch(/9:05/);
  expect(briefly(new Date(2026, 10, 20, 9, 5).getTime(), now)).toBe("Nov 20");
  expect(briefly(new Date(2025, 10, 20, 9, 5).getTime(), now)).toBe("Nov 20, 2025");
});

test("JSON is indented, but not so deeply that it becomes many times as long", () => {
  expect(json({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(json(undefined)).toBe("");
  const deep = `${"[".repeat(900)}${Array(1000).fill("1").join()}${"]".repeat(900)}`;
  expect(json(JSON.parse(deep))).toBe(deep);
});
