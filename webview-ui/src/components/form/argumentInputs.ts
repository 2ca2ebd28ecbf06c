import type { Field, StringField } from "@assent/protocol";
import { parseExact, writeExact } from "../../lib/exactJSON.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";
import { parseDate, parseDateTime } from "./dates.ts";
import { readField } from "./readInputs.ts";

type Members = Readonly<Record<string, unknown>>;

/**
 * What the controls of a tool's fields hold for arguments that somebody wrote; undefined where they cannot show
 * all of them, and the arguments are to be read as JSON.
 */
export function inputsOf(fields: readonly Field[], text: string): Draft | undefined {
  const given = membersOf(text);
  // Nothing is sent that is not in sight: neither what no field has, nor what a field masks.
  if (given === undefined || fields.every(({ type }) => type === "json")) return undefined;
  if (fields.some(({ secret }) => secret)) return undefined;
  if (!Object.keys(given).every((name) => fields.some((field) => field.name === name))) {
    return undefined;
  }
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
 * The arguments that the inputs make of those in a text: what was not touched stays as it was written there. An
 * input that is wrong stays as its text.
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
      return field.options?.some((option) => option.value === value) ? String(value) : undefined;
    case "choices": {
      if (!Array.isArray(value)) return undefined;
      const known = value.every((one) => field.options?.some((option) => option.value === one));
      return known ? value.map(String) : undefined;
    }
    case "json":
      return writeExact(value, 2);
    default:
      return unreachable(field);
  }
}

/** Says whether the control of a text can show a value: those of dates show nothing else, those of formats no lines. */
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
