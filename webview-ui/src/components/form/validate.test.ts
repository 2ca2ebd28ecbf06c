import type { Field, PatternProgram } from "@assent/protocol";
import { describe, expect, test } from "vitest";
import type { FieldInput } from "../../view/viewState.ts";
import { readField, readForm } from "./validate.ts";

const leftOut = { kind: "leftOut" };
const value = (it: unknown) => ({ kind: "value", value: it });
const problem = (message: string) => ({ kind: "problem", message });

interface Case {
  readonly name: string;
  readonly field: Partial<Field> & { readonly type: Field["type"] };
  readonly input?: FieldInput;
  readonly want: unknown;
}

const options = [{ value: "json" }, { value: "plain", title: "Plain" }, { value: "" }];

const justB: PatternProgram = {
  start: 0,
  steps: [
    { op: "char", out: 1, arg: 0 },
    { op: "match", out: 0, arg: 0 },
  ],
  classes: [[98, 98]],
};

const cases: readonly Case[] = [
  { name: "optional text untouched", field: { type: "string" }, want: leftOut },
  { name: "optional text emptied", field: { type: "string" }, input: "", want: leftOut },
  { name: "text", field: { type: "string" }, input: " a ", want: value(" a ") },
  {
    name: "required text empty",
    field: { type: "string", required: true },
    input: "",
    want: problem("Required"),
  },
  {
    name: "required text that may be empty",
    field: { type: "string", required: true, minLength: 0 },
    want: value(""),
  },
  {
    name: "required text that may be empty, but not by its format",
    field: { type: "string", required: true, minLength: 0, format: "email" },
    want: problem("Not an email address, such as name@example.com"),
  },
  {
    name: "too short, counted in code points",
    field: { type: "string", minLength: 3 },
    input: "👍👍",
    want: problem("At least 3 characters; this has 2"),
  },
  {
    name: "long enough in code points",
    field: { type: "string", maxLength: 2 },
    input: "👍👍",
    want: value("👍👍"),
  },
  {
    name: "too long",
    field: { type: "string", maxLength: 1 },
    input: "ab",
    want: problem("At most 1 character; this has 2"),
  },
  {
    name: "pattern matches somewhere",
    field: { type: "string", pattern: "b", program: justB },
    input: "abc",
    want: value("abc"),
  },
  {
    name: "pattern does not match",
    field: { type: "string", pattern: "b", program: justB },
    input: "ac",
    want: problem("Does not match the pattern b"),
  },
  {
    name: "pattern without a program is the server's to check",
    field: { type: "string", pattern: "^b" },
    input: "abc",
    want: value("abc"),
  },
  {
    name: "email",
    field: { type: "string", format: "email" },
    input: "a@localhost",
    want: value("a@localhost"),
  },
  {
    name: "no email",
    field: { type: "string", format: "email" },
    input: "notanemail",
    want: problem("Not an email address, such as name@example.com"),
  },
  {
    name: "uri",
    field: { type: "string", format: "uri" },
    input: "urn:x:1",
    want: value("urn:x:1"),
  },
  {
    name: "no uri",
    field: { type: "string", format: "uri" },
    input: "example.com",
    want: problem(
      "Not a full address, such as https://example.com/page; a space in it is written %20",
    ),
  },
  {
    name: "date",
    field: { type: "string", format: "date" },
    input: "2024-02-29",
    want: value("2024-02-29"),
  },
  {
    name: "no such date",
    field: { type: "string", format: "date" },
    input: "2026-02-29",
    want: problem("Not a date, such as 2026-11-21"),
  },
  {
    name: "date-time",
    field: { type: "string", format: "date-time" },
    input: "2026-11-21T14:30:00.5-08:00",
    want: value("2026-11-21T14:30:00.5-08:00"),
  },
  {
    name: "date-time without an offset",
    field: { type: "string", format: "date-time" },
    input: "2026-11-21T14:30:00",
    want: problem("Not a date and time, such as 2026-11-21T14:30:00Z"),
  },
  { name: "optional number empty", field: { type: "number" }, input: " ", want: leftOut },
  {
    name: "required number empty",
    field: { type: "number", required: true },
    want: problem("Required"),
  },
  { name: "zero", field: { type: "number" }, input: "0", want: value(0) },
  { name: "negative fraction", field: { type: "number" }, input: "-0.5", want: value(-0.5) },
  { name: "exponent", field: { type: "number", integer: true }, input: "1e3", want: value(1000) },
  {
    name: "a comma is no dot",
    field: { type: "number" },
    input: "1,5",
    want: problem("Not a number; write it like 12.5"),
  },
  {
    name: "hexadecimal is not written by people",
    field: { type: "number" },
    input: "0x10",
    want: problem("Not a number; write it like 12.5"),
  },
  {
    name: "infinite",
    field: { type: "number" },
    input: "1e999",
    want: problem("Not a number; write it like 12.5"),
  },
  {
    name: "garbage for an integer",
    field: { type: "number", integer: true },
    input: "12 rows",
    want: problem("Not a whole number, such as 12"),
  },
  {
    name: "fraction for an integer",
    field: { type: "number", integer: true },
    input: "1.5",
    want: problem("Not a whole number, such as 12"),
  },
  {
    name: "integer that a double cannot hold",
    field: { type: "number", integer: true },
    input: "9007199254740993",
    want: problem("Too many digits to be passed on exactly"),
  },
  {
    name: "below the minimum",
    field: { type: "number", minimum: 0 },
    input: "-1",
    want: problem("At least 0"),
  },
  { name: "at the minimum", field: { type: "number", minimum: 0 }, input: "0", want: value(0) },
  {
    name: "above the maximum",
    field: { type: "number", maximum: 5 },
    input: "5.1",
    want: problem("At most 5"),
  },
  { name: "optional tick untouched", field: { type: "boolean" }, want: leftOut },
  { name: "tick taken back", field: { type: "boolean" }, input: false, want: value(false) },
  { name: "tick", field: { type: "boolean" }, input: true, want: value(true) },
  {
    name: "required tick untouched",
    field: { type: "boolean", required: true },
    want: value(false),
  },
  { name: "optional choice unanswered", field: { type: "choice", options }, want: leftOut },
  {
    name: "required choice unanswered",
    field: { type: "choice", options, required: true },
    want: problem("Choose one"),
  },
  { name: "choice", field: { type: "choice", options }, input: "plain", want: value("plain") },
  {
    name: "choice of the empty text",
    field: { type: "choice", options, required: true },
    input: "",
    want: value(""),
  },
  {
    name: "no such choice",
    field: { type: "choice", options },
    input: "xml",
    want: problem("Choose one of the options"),
  },
  { name: "optional choices untouched", field: { type: "choices", options }, want: leftOut },
  { name: "choices emptied", field: { type: "choices", options }, input: [], want: value([]) },
  {
    name: "optional choices emptied where some are needed",
    field: { type: "choices", options, minItems: 1 },
    input: [],
    want: leftOut,
  },
  {
    name: "required choices untouched",
    field: { type: "choices", options, required: true },
    want: value([]),
  },
  {
    name: "choices in the server's order",
    field: { type: "choices", options },
    input: ["plain", "json"],
    want: value(["json", "plain"]),
  },
  {
    name: "too few choices",
    field: { type: "choices", options, required: true, minItems: 2 },
    input: ["json"],
    want: problem("Choose at least 2"),
  },
  {
    name: "too many choices",
    field: { type: "choices", options, maxItems: 1 },
    input: ["json", "plain"],
    want: problem("Choose at most 1"),
  },
  {
    name: "JSON",
    field: { type: "json", schema: {} },
    input: '{"a": [1, null]}',
    want: value({ a: [1, null] }),
  },
  { name: "optional JSON empty", field: { type: "json", schema: {} }, input: "\n", want: leftOut },
  {
    name: "required JSON empty",
    field: { type: "json", schema: {}, required: true },
    want: problem("Required"),
  },
];

test.each(cases)("$name", ({ field, input, want }) => {
  expect(readField({ name: "f", ...field } as Field, input)).toEqual(want);
});

test("JSON that is none is told as such", () => {
  const reading = readField({ type: "json", name: "f", schema: {} }, "{a: 1}");
  expect(reading).toMatchObject({ kind: "problem", message: expect.stringMatching(/^Not JSON: /) });
});

describe("a form", () => {
  test("has its answer in the order of the fields, without what was left out", () => {
    const reading = readForm(
      [
        { type: "string", name: "b" },
        { type: "string", name: "gone" },
        { type: "number", name: "a" },
      ],
      { a: "1", b: "x" },
    );
    expect(reading).toEqual({ ok: true, content: { b: "x", a: 1 } });
    expect(reading.ok && Object.keys(reading.content)).toEqual(["b", "a"]);
  });

  test("tells every problem", () => {
    const reading = readForm(
      [
        { type: "string", name: "a", required: true },
        { type: "number", name: "b" },
      ],
      { b: "x" },
    );
    expect(reading).toEqual({
      ok: false,
      problems: [
        { name: "a", message: "Required" },
        { name: "b", message: "Not a number; write it like 12.5" },
      ],
    });
  });

  test("takes names that every object has as names", () => {
    const fields: Field[] = ["__proto__", "constructor", "toString"].map((name) => ({
      type: "string",
      name,
    }));
    expect(readForm(fields, {})).toEqual({ ok: true, content: {} });
    const typed = JSON.parse('{"__proto__": "a", "constructor": "b"}');
    const reading = readForm(fields, typed);
    expect(reading.ok && JSON.stringify(reading.content)).toBe(
      '{"__proto__":"a","constructor":"b"}',
    );
  });
});
