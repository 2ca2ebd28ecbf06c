import type { Field, Option, StringField } from "@assent/protocol";
import { parseExact, writeExact } from "../../lib/exactJSON.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";
import { parseDate, parseDateTime } from "./dates.ts";
import { readField } from "./readInputs.ts";

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the inputs of a tool's fields for given arguments; undefined if the fields cannot show all of them, so that
 * JSON must be used.
 */
export function inputsOf(fields: readonly Field[], text: string): Draft | undefined {
  const given = membersOf(text);
  // Only visible members are sent: no members without a field, and none that a field masks.
  if (given === undefined || fields.every(({ type }) => type === "json")) return undefined;
  if (fields.some(({ secret }) => secret)) return undefined;
  if (!Object.keys(given).every((name) => fields.some((field) => field.name === name))) {
    return undefined;
  }
  return inputsOfMembers(fields, given);
}

/** Returns the inputs of fields for given values; undefined if a field cannot show its value. */
export function inputsOfMembers(fields: readonly Field[], given: Members): Draft | undefined {
  const inputs: [string, FieldInput][] = [];
  for (const field of fields) {
    if (!Object.hasOwn(given, field.name)) continue;
    const input = inputOf(field, given[field.name]);
    if (input === undefined) return undefined;
    inputs.push([field.name, input]);
  }
  return Object.fromEntries(inputs);
}

/**
 * Returns the arguments for the inputs. Untouched arguments stay as written in the text. An invalid input becomes its
 * text.
 */
export function argumentsOf(fields: readonly Field[], text: string, inputs: Draft): string {
  const before = inputsOf(fields, text);
  // What the fields could not show is not sent either.
  const now = new Map(Object.entries(before === undefined ? {} : (membersOf(text) ?? {})));
  for (const field of fields) {
    const input = own(inputs, field.name);
    if (JSON.stringify(input) === JSON.stringify(own(before ?? {}, field.name))) continue;
    const reading = readField(field, input, "exact");
    if (reading.kind === "leftOut") now.delete(field.name);
    else now.set(field.name, reading.value);
  }
  return writeExact(Object.fromEntries(now), 2);
}

function membersOf(text: string): Members | undefined {
  try {
    const value = parseExact(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Members)
      : undefined;
  } catch {
    return undefined;
  }
}

function inputOf(field: Field, value: unknown): FieldInput | undefined {
  switch (field.type) {
    case "string":
      if (typeof value !== "string") return undefined;
      return holds(field, value) ? value : undefined;
    case "number":
      return typeof value === "number" || isRaw(value) ? writeExact(value) : undefined;
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "choice":
      return optionOf(field.options, value)?.value;
    case "choices": {
      if (!Array.isArray(value)) return undefined;
      const known = value.flatMap((one) => optionOf(field.options, one)?.value ?? []);
      return known.length === value.length ? known : undefined;
    }
    case "list": {
      if (!Array.isArray(value)) return undefined;
      const lines = value.flatMap((one) => lineOf(field.item, one) ?? []);
      return lines.length === value.length ? lines.join("\n") : undefined;
    }
    case "json":
      return writeExact(value, 2);
    default:
      return unreachable(field);
  }
}

function optionOf(options: readonly Option[] = [], value: unknown): Option | undefined {
  return options.find(({ value: text, json }) =>
    json === undefined ? text === value : writeExact(parseExact(json)) === writeExact(value),
  );
}

/** Returns an item of a list as a line; undefined if it is none. */
function lineOf(item: Field, value: unknown): string | undefined {
  const input = inputOf(item, value);
  const line = typeof input === "boolean" ? String(input) : input;
  return typeof line === "string" && /^.*\S.*$/.test(line) ? line : undefined;
}

/**
 * Reports whether a text field's control can show a value: date controls show only dates, and formats allow no line
 * breaks.
 */
function holds({ format }: StringField, value: string): boolean {
  switch (format) {
    case undefined:
      return true;
    case "date":
      return parseDate(value);
    case "date-time":
      return parseDateTime(value);
    default:
      return value !== "" && !/[\r\n]/.test(value);
  }
}

/** A number that a double does not hold. */
function isRaw(value: unknown): boolean {
  return typeof value === "object" && value !== null && "rawJSON" in value;
}
