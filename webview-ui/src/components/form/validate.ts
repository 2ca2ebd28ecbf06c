import type {
  ChoiceField,
  ChoicesField,
  Field,
  FieldProblem,
  JSONField,
  NumberField,
  StringField,
} from "@assent/protocol";
import { unreachable } from "../../unreachable.ts";
import { type Draft, type FieldInput, own } from "../../viewState.ts";
import { parseDate, parseDateTime } from "./dates.ts";

/**
 * What a control's input means. The rules are JSON Schema's; what the person left empty is read like
 * this:
 *
 * - An optional field that is empty, or a tick that was never touched, is left out of the answer.
 * - 0, false and an emptied list are values, and are sent.
 * - A required text that is empty is a forgotten one, unless the field says by `minLength: 0` that
 *   the empty text is an answer.
 * - A required tick that was never touched is a no; required options of which none is ticked are an
 *   empty list.
 *
 * Besides this, nothing is refused here that the sidecar would let pass. The sidecar has the last
 * word, and its refusal is shown in the same place.
 */
export type Reading =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "leftOut" }
  | { readonly kind: "problem"; readonly message: string };

/** What a whole form means: the answer, or what is wrong with it, in the order of the fields. */
export type FormReading =
  | { readonly ok: true; readonly content: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export function readForm(fields: readonly Field[], inputs: Draft): FormReading {
  const entries: [string, unknown][] = [];
  const problems: FieldProblem[] = [];
  for (const field of fields) {
    const reading = readField(field, own(inputs, field.name));
    if (reading.kind === "value") entries.push([field.name, reading.value]);
    if (reading.kind === "problem") problems.push({ name: field.name, message: reading.message });
  }
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, content: Object.fromEntries(entries) };
}

export function readField(field: Field, input: FieldInput | undefined): Reading {
  switch (field.type) {
    case "string":
      return readString(field, text(input));
    case "number":
      return readNumber(field, text(input).trim());
    case "boolean":
      if (typeof input === "boolean") return { kind: "value", value: input };
      return field.required ? { kind: "value", value: false } : { kind: "leftOut" };
    case "choice":
      return readChoice(field, typeof input === "string" ? input : undefined);
    case "choices":
      return readChoices(field, Array.isArray(input) ? input : undefined);
    case "json":
      return readJSON(field, text(input).trim());
    default:
      return unreachable(field);
  }
}

function text(input: FieldInput | undefined): string {
  return typeof input === "string" ? input : "";
}

function problem(message: string): Reading {
  return { kind: "problem", message };
}

function empty(field: Field, message: string): Reading {
  return field.required ? problem(message) : { kind: "leftOut" };
}

function readString(field: StringField, input: string): Reading {
  if (input === "" && !(field.required && field.minLength === 0)) {
    return empty(field, "Required.");
  }
  const wrong =
    wrongLength(field, input) ?? wrongFormat(field, input) ?? wrongPattern(field, input);
  return wrong === undefined ? { kind: "value", value: input } : problem(wrong);
}

function wrongLength({ minLength = 0, maxLength }: StringField, input: string): string | undefined {
  const length = [...input].length;
  if (length < minLength) return `At least ${characters(minLength)}; this has ${length}.`;
  if (maxLength !== undefined && length > maxLength) {
    return `At most ${characters(maxLength)}; this has ${length}.`;
  }
  return undefined;
}

function characters(n: number): string {
  return n === 1 ? "1 character" : `${n} characters`;
}

function wrongFormat({ format }: StringField, input: string): string | undefined {
  switch (format) {
    case undefined:
      return undefined;
    case "email":
      return /^\S+@\S+$/.test(input)
        ? undefined
        : "Not an email address, such as name@example.com.";
    case "uri":
      return /^[a-z][a-z0-9+.-]*:\S*$/i.test(input)
        ? undefined
        : "Not a full address, such as https://example.com/page.";
    case "date":
      return parseDate(input) ? undefined : "Not a date, such as 2026-11-21.";
    case "date-time":
      return parseDateTime(input)
        ? undefined
        : "Not a date and time, such as 2026-11-21T14:30:00Z.";
    default:
      return unreachable(format);
  }
}

function wrongPattern({ pattern }: StringField, input: string): string | undefined {
  if (pattern === undefined || pattern === "") return undefined;
  try {
    if (new RegExp(pattern, "u").test(input)) return undefined;
  } catch {
    return undefined; // Not an expression that JavaScript knows; the sidecar may.
  }
  return `Does not match the pattern ${pattern}`;
}

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function readNumber(field: NumberField, input: string): Reading {
  if (input === "") return empty(field, "Required.");
  const value = Number(input);
  if (!decimal.test(input) || !Number.isFinite(value)) {
    return problem(
      field.integer ? "Not a whole number, such as 12." : "Not a number; write it like 12.5.",
    );
  }
  if (field.integer && !Number.isInteger(value)) return problem("Not a whole number, such as 12.");
  if (field.integer && !Number.isSafeInteger(value)) {
    return problem("Too large to be passed on exactly.");
  }
  if (field.minimum !== undefined && value < field.minimum) {
    return problem(`At least ${field.minimum}.`);
  }
  if (field.maximum !== undefined && value > field.maximum) {
    return problem(`At most ${field.maximum}.`);
  }
  return { kind: "value", value };
}

function readChoice(field: ChoiceField, input: string | undefined): Reading {
  if (input === undefined) return empty(field, "Choose one.");
  return field.options?.some(({ value }) => value === input)
    ? { kind: "value", value: input }
    : problem("Choose one of the options.");
}

function readChoices(field: ChoicesField, input: readonly string[] | undefined): Reading {
  const { required = false, minItems = 0, maxItems, options = [] } = field;
  const chosen = options.map(({ value }) => value).filter((value) => input?.includes(value));
  if (chosen.length === 0 && !required && (input === undefined || minItems > 0)) {
    return { kind: "leftOut" };
  }
  if (chosen.length < minItems) return problem(`Choose at least ${minItems}.`);
  if (maxItems !== undefined && chosen.length > maxItems) {
    return problem(`Choose at most ${maxItems}.`);
  }
  return { kind: "value", value: chosen };
}

function readJSON(field: JSONField, input: string): Reading {
  if (input === "") return empty(field, "Required.");
  try {
    return { kind: "value", value: JSON.parse(input) };
  } catch (error) {
    return problem(`Not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
