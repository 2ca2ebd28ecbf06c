import type { Field, Keyword } from "@assent/protocol";
import { describe, expect, test } from "vitest";
import type { FieldInput } from "../../view/viewState.ts";
import { inWords } from "./problemText.ts";
import { readField, readForm } from "./readInputs.ts";

const leftOut = { kind: "leftOut" };
const value = (it: unknown) => ({ kind: "value", value: it });

interface Case {
  readonly name: string;
  readonly field: Partial<Field> & { readonly type: Field["type"] };
  readonly input?: FieldInput;
  readonly want: unknown;
}

const text: Field = { type: "string", name: "" };
const options = [{ value: "json" }, { value: "plain", title: "Plain" }, { value: "" }];

const cases: readonly Case[] = [
  { name: "optional text untouched", field: { type: "string" }, want: leftOut },
  { name: "optional text emptied", field: { type: "string" }, input: "", want: leftOut },
  { name: "text", field: { type: "string" }, input: " a ", want: value(" a ") },
  {
    name: "required text that may be empty",
    field: { type: "string", required: true, minLength: 0 },
    want: value(""),
  },
  {
    name: "long enough in code points",
    field: { type: "string", maxLength: 2 },
    input: "👍👍",
    want: value("👍👍"),
  },
  {
    name: "email",
    field: { type: "string", format: "email" },
    input: "a@localhost",
    want: value("a@localhost"),
  },
  {
    name: "uri",
    field: { type: "string", format: "uri" },
    input: "urn:x:1",
    want: value("urn:x:1"),
  },
  {
    name: "date",
    field: { type: "string", format: "date" },
    input: "2024-02-29",
    want: value("2024-02-29"),
  },
  {
    name: "date-time",
    field: { type: "string", format: "date-time" },
    input: "2026-11-21T14:30:00.5-08:00",
    want: value("2026-11-21T14:30:00.5-08:00"),
  },
  {
    name: "lines",
    field: { type: "list", item: text },
    input: " a\r\n\n \nb,c\n",
    want: value([" a", "b,c"]),
  },
  { name: "optional list", field: { type: "list", item: text }, input: "\n ", want: leftOut },
  {
    name: "required list",
    field: { type: "list", item: text, required: true },
    input: "",
    want: value([]),
  },
  {
    name: "lines of numbers",
    field: { type: "list", item: { type: "number", name: "" } },
    input: "1\n 2.5 \nx",
    want: value([1, 2.5, "x"]),
  },
  {
    name: "lines of yes and no",
    field: { type: "list", item: { type: "boolean", name: "" } },
    input: "yes\nFALSE\nperhaps",
    want: value([true, false, "perhaps"]),
  },
  {
    name: "a choice of numbers",
    field: { type: "choice", options: [{ value: "1.0", json: "1.0" }] },
    input: "1.0",
    want: value(1),
  },
  {
    name: "choices of several types",
    field: { type: "choices", options: [{ value: "a" }, { value: "true", json: "true" }] },
    input: ["true", "a"],
    want: value(["a", true]),
  },
  { name: "optional number empty", field: { type: "number" }, input: " ", want: leftOut },
  { name: "zero", field: { type: "number" }, input: "0", want: value(0) },
  { name: "negative fraction", field: { type: "number" }, input: "-0.5", want: value(-0.5) },
  { name: "exponent", field: { type: "number", integer: true }, input: "1e3", want: value(1000) },
  {
    name: "integer that a double cannot hold",
    field: { type: "number", integer: true },
    input: "9007199254740993",
    want: {
      kind: "problem",
      message: "Too many digits to send exactly",
      value: "9007199254740993",
    },
  },
  { name: "at the minimum", field: { type: "number", minimum: 0 }, input: "0", want: value(0) },
  { name: "optional tick untouched", field: { type: "boolean" }, want: leftOut },
  { name: "tick taken back", field: { type: "boolean" }, input: false, want: value(false) },
  { name: "tick", field: { type: "boolean" }, input: true, want: value(true) },
  {
    name: "required tick untouched",
    field: { type: "boolean", required: true },
    want: value(false),
  },
  { name: "optional choice unanswered", field: { type: "choice", options }, want: leftOut },
  { name: "choice", field: { type: "choice", options }, input: "plain", want: value("plain") },
  {
    name: "choice of the empty text",
    field: { type: "choice", options, required: true },
    input: "",
    want: value(""),
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
    name: "JSON",
    field: { type: "json", schema: {} },
    input: '{"a": [1, null]}',
    want: value({ a: [1, null] }),
  },
  { name: "optional JSON empty", field: { type: "json", schema: {} }, input: "\n", want: leftOut },
];

test.each(cases)("$name", ({ field, input, want }) => {
  expect(readField({ name: "f", ...field } as Field, input)).toEqual(want);
});

/** What the sidecar's check reads of an input, and the text of the problem that it finds. */
interface ProblemCase extends Omit<Case, "want"> {
  readonly keyword: Keyword;
  readonly read: unknown;
  readonly want: string;
}

const problems: readonly ProblemCase[] = [
  {
    name: "required text empty",
    field: { type: "string", required: true },
    input: "",
    keyword: "required",
    read: leftOut,
    want: "Required",
  },
  {
    name: "required text that may be empty, but not by its format",
    field: { type: "string", required: true, minLength: 0, format: "email" },
    keyword: "format",
    read: value(""),
    want: "Not an email address, such as name@example.com",
  },
  {
    name: "too short, counted in code points",
    field: { type: "string", minLength: 3 },
    input: "👍👍",
    keyword: "minLength",
    read: value("👍👍"),
    want: "At least 3 characters; this has 2",
  },
  {
    name: "too long",
    field: { type: "string", maxLength: 1 },
    input: "ab",
    keyword: "maxLength",
    read: value("ab"),
    want: "At most 1 character; this has 2",
  },
  {
    name: "pattern does not match",
    field: { type: "string", pattern: "b" },
    input: "ac",
    keyword: "pattern",
    read: value("ac"),
    want: "Does not match the pattern b",
  },
  {
    name: "no email",
    field: { type: "string", format: "email" },
    input: "notanemail",
    keyword: "format",
    read: value("notanemail"),
    want: "Not an email address, such as name@example.com",
  },
  {
    name: "no uri",
    field: { type: "string", format: "uri" },
    input: "example.com",
    keyword: "format",
    read: value("example.com"),
    want: "Not a full URL, such as https://example.com/page; write a space as %20",
  },
  {
    name: "no such date",
    field: { type: "string", format: "date" },
    input: "2026-02-29",
    keyword: "format",
    read: value("2026-02-29"),
    want: "Not a date, such as 2026-11-21",
  },
  {
    name: "date-time without an offset",
    field: { type: "string", format: "date-time" },
    input: "2026-11-21T14:30:00",
    keyword: "format",
    read: value("2026-11-21T14:30:00"),
    want: "Not a date and time, such as 2026-11-21T14:30:00Z",
  },
  {
    name: "required number empty",
    field: { type: "number", required: true },
    keyword: "required",
    read: leftOut,
    want: "Required",
  },
  {
    name: "a comma is no dot",
    field: { type: "number" },
    input: "1,5",
    keyword: "type",
    read: value("1,5"),
    want: "Not a number; write it like 12.5",
  },
  {
    name: "hexadecimal is not written by people",
    field: { type: "number" },
    input: "0x10",
    keyword: "type",
    read: value("0x10"),
    want: "Not a number; write it like 12.5",
  },
  {
    name: "infinite",
    field: { type: "number" },
    input: "1e999",
    keyword: "type",
    read: value("1e999"),
    want: "Not a number; write it like 12.5",
  },
  {
    name: "garbage for an integer",
    field: { type: "number", integer: true },
    input: "12 rows",
    keyword: "type",
    read: value("12 rows"),
    want: "Not a whole number, such as 12",
  },
  {
    name: "fraction for an integer",
    field: { type: "number", integer: true },
    input: "1.5",
    keyword: "type",
    read: value(1.5),
    want: "Not a whole number, such as 12",
  },
  {
    name: "below the minimum",
    field: { type: "number", minimum: 0 },
    input: "-1",
    keyword: "minimum",
    read: value(-1),
    want: "At least 0",
  },
  {
    name: "above the maximum",
    field: { type: "number", maximum: 5 },
    input: "5.1",
    keyword: "maximum",
    read: value(5.1),
    want: "At most 5",
  },
  {
    name: "required choice unanswered",
    field: { type: "choice", options, required: true },
    keyword: "required",
    read: leftOut,
    want: "Choose one",
  },
  {
    name: "no such choice",
    field: { type: "choice", options },
    input: "xml",
    keyword: "enum",
    read: value("xml"),
    want: "Choose one of the options",
  },
  {
    name: "too few choices",
    field: { type: "choices", options, required: true, minItems: 2 },
    input: ["json"],
    keyword: "minItems",
    read: value(["json"]),
    want: "Choose at least 2",
  },
  {
    name: "too many choices",
    field: { type: "choices", options, maxItems: 1 },
    input: ["json", "plain"],
    keyword: "maxItems",
    read: value(["json", "plain"]),
    want: "Choose at most 1",
  },
  {
    name: "required JSON empty",
    field: { type: "json", schema: {}, required: true },
    keyword: "required",
    read: leftOut,
    want: "Required",
  },
];

test.each(problems)("$name", ({ field, input, keyword, read, want }) => {
  const named = { name: "f", ...field } as Field;
  expect(readField(named, input)).toEqual(read);
  const problem = { name: "f", message: "in the sidecar's words", keyword };
  const inputs = input === undefined ? {} : { f: input };
  expect(inWords(problem, [named], inputs).message).toBe(want);
});

test("a problem without a text of its own keeps the sidecar's", () => {
  const problem = { name: "f", message: "Taken already." };
  expect(inWords(problem, [{ type: "string", name: "f" }], {})).toEqual(problem);
});

test("JSON that is none is told as such", () => {
  const reading = readField({ type: "json", name: "f", schema: {} }, "{a: 1}");
  expect(reading).toMatchObject({ kind: "problem", message: expect.stringMatching(/^Not JSON: /) });
});

describe("a form", () => {
  test("has its answer in the order of the fields, without omitted ones", () => {
    const reading = readForm(
      [
        { type: "string", name: "b" },
        { type: "string", name: "gone" },
        { type: "number", name: "a" },
      ],
      { a: "1", b: "x" },
    );
    expect(reading).toEqual({ content: { b: "x", a: 1 }, problems: [] });
    expect(Object.keys(reading.content)).toEqual(["b", "a"]);
  });

  test("tells every input that cannot be sent", () => {
    const reading = readForm(
      [
        { type: "json", name: "a", schema: {} },
        { type: "number", name: "b" },
      ],
      { a: "{", b: "9007199254740993" },
    );
    expect(reading.content).toEqual({ a: "{", b: "9007199254740993" });
    expect(reading.problems).toEqual([
      { name: "a", message: expect.stringMatching(/^Not JSON: /) },
      { name: "b", message: "Too many digits to send exactly" },
    ]);
  });

  test("takes names that every object has as names", () => {
    const fields: Field[] = ["__proto__", "constructor", "toString"].map((name) => ({
      type: "string",
      name,
    }));
    expect(readForm(fields, {})).toEqual({ content: {}, problems: [] });
    const typed = JSON.parse('{"__proto__": "a", "constructor": "b"}');
    const { content } = readForm(fields, typed);
    expect(JSON.stringify(content)).toBe('{"__proto__":"a","constructor":"b"}');
  });
});
