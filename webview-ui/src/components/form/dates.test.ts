import { expect, test } from "vitest";
import { fromLocalInput, parseDate, parseDateTime, toLocalInput } from "./dates.ts";

// The tests run in the zone of Kolkata, five and a half hours before UTC.

test.each([
  ["2026-11-21", true],
  ["2024-02-29", true],
  ["0004-02-29", true],
  ["2026-02-29", false],
  ["2026-13-01", false],
  ["2026-00-10", false],
  ["21.11.2026", false],
  ["2026-1-1", false],
  ["", false],
])("the date %j", (text, want) => {
  expect(parseDate(text)).toBe(want);
});

test.each([
  ["2026-11-21T14:30:00Z", true],
  ["2026-11-21t14:30:00z", true],
  ["2026-11-21T14:30:00.123+05:30", true],
  ["2016-12-31T23:59:60Z", true],
  ["2026-11-21T14:30Z", false],
  ["2026-11-21T24:00:00Z", false],
  ["2026-11-31T14:30:00Z", false],
  ["2026-11-21T14:30:00", false],
  ["2026-11-21 14:30:00Z", false],
])("the moment %j", (text, want) => {
  expect(parseDateTime(text)).toBe(want);
});

test("a moment is shown in the person's zone", () => {
  expect(toLocalInput("2026-11-21T14:30:00Z")).toBe("2026-11-21T20:00:00");
  expect(toLocalInput("2026-11-21T23:30:00.250-01:00")).toBe("2026-11-22T06:00:00.250");
  expect(toLocalInput("tomorrow")).toBe("");
});

test("a time typed in the person's zone gets its offset", () => {
  expect(fromLocalInput("2026-11-21T20:00")).toBe("2026-11-21T20:00:00+05:30");
  expect(fromLocalInput("2026-11-21T20:00:07")).toBe("2026-11-21T20:00:07+05:30");
  expect(fromLocalInput("")).toBe("");
});
