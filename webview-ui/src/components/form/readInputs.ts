import type {
  ChoicesField,
  Field,
  FieldProblem,
  ListField,
  Option,
  StringField,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { exactly, parseExact } from "../../lib/exactJSON.ts";
import { readDecimal } from "../../lib/numbers.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";

/**
 * Returns the value of a control's input. Empty inputs are read like this:
 *
 * - An optional field that is empty, or a checkbox that was never touched, is left out of the answer.
 * - 0, false and an emptied list are values, and are sent.
 * - A required text that is empty is left out, unless `minLength: 0` says that the empty text is an answer.
 * - A required checkbox that was never touched is false. Required options without a tick are an empty list, and so is a
 *   required list without a line.
 *
 * The sidecar decides whether the value follows the field's rules. A problem is an input that cannot be sent; its value
 * is only for the sidecar's check.
 */
export type Reading =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "leftOut" }
  | { readonly kind: "problem"; readonly message: string; readonly value: unknown };

/** Reads a whole form: the values in the order of the fields, and the inputs that cannot be sent. */
export interface FormReading {
  readonly content: Readonly<Record<string, unknown>>;
  readonly problems: readonly FieldProblem[];
}

/**
 * How to write numbers that a double cannot hold exactly: as texts, which the sidecar converts in the answer to an
 * elicitation; as numbers of exactJSON.ts; or not at all.
 */
export type ExactNumbers = "asText" | "exact" | "refused";

export function readForm(
  fields: readonly Field[],
  inputs: Draft,
  exactNumbers: ExactNumbers = "refused",
): FormReading {
  const entries: [string, unknown][] = [];
  const problems: FieldProblem[] = [];
  for (const field of fields) {
    const reading = readField(field, own(inputs, field.name), exactNumbers);
    if (reading.kind !== "leftOut") entries.push([field.name, reading.value]);
    if (reading.kind === "problem") problems.push({ name: field.name, message: reading.message });
  }
  return { content: Object.fromEntries(entries), problems };
}

export function readField(
  field: Field,
  input: FieldInput | undefined,
  exactNumbers: ExactNumbers = "refused",
): Reading {
  switch (field.type) {
    case "string":
      return readString(field, text(input));
    case "number":
      return readNumber(text(input).trim(), exactNumbers);
    case "boolean":
      if (typeof input === "boolean") return { kind: "value", value: input };
      return field.required ? { kind: "value", value: false } : { kind: "leftOut" };
    case "choice":
      return typeof input === "string"
        ? { kind: "value", value: chosenValue(field.options, input, exactNumbers) }
        : { kind: "leftOut" };
    case "choices":
      return readChoices(field, Array.isArray(input) ? input : undefined, exactNumbers);
    case "list":
      return readList(field, text(input), exactNumbers);
    case "json":
      return readJSON(text(input).trim(), exactNumbers);
    default:
      return unreachable(field);
  }
}

function text(input: FieldInput | undefined): string {
  return typeof input === "string" ? input : "";
}

function readString(field: StringField, typed: string): Reading {
  if (typed === "" && !(field.required && field.minLength === 0)) return { kind: "leftOut" };
  // A lone surrogate cannot be sent in JSON, so it counts as a replaced character.
  return { kind: "value", value: typed.replace(/\p{Surrogate}/gu, "\ufffd") };
}

/** An invalid number is its text, and the sidecar reports the problem. */
function readNumber(input: string, exactNumbers: ExactNumbers): Reading {
  if (input === "") return { kind: "leftOut" };
  const value = readDecimal(input)?.sent;
  if (value === undefined) return { kind: "value", value: input };
  if (typeof value === "number" || exactNumbers === "asText") return { kind: "value", value };
  return exactNumbers === "exact"
    ? { kind: "value", value: exactly(value) }
    : { kind: "problem", message: l10n.t("Too many digits to send exactly"), value };
}

/** The sidecar converts the texts of options in the answer to an elicitation. A tool's arguments need their JSON. */
function chosenValue(
  options: readonly Option[] | undefined,
  chosen: string,
  exactNumbers: ExactNumbers,
): unknown {
  const json = options?.find(({ value }) => value === chosen)?.json;
  if (json === undefined || exactNumbers === "asText") return chosen;
  return exactNumbers === "exact" ? parseExact(json) : JSON.parse(json);
}

function readChoices(
  field: ChoicesField,
  input: readonly string[] | undefined,
  exactNumbers: ExactNumbers,
): Reading {
  const { required = false, minItems = 0, options = [] } = field;
  const ticked = new Set(input);
  const value = options.map((option) => option.value).filter((it) => ticked.has(it));
  return value.length === 0 && !required && (input === undefined || minItems > 0)
    ? { kind: "leftOut" }
    : { kind: "value", value: value.map((one) => chosenValue(options, one, exactNumbers)) };
}

/** A list has an item for each line that is not empty. */
function readList(field: ListField, typed: string, exactNumbers: ExactNumbers): Reading {
  const lines = typed.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length === 0) {
    return field.required ? { kind: "value", value: [] } : { kind: "leftOut" };
  }
  const readings = lines.map((line) => readItem(field.item, line, exactNumbers));
  const value = readings.map((reading) => (reading.kind === "leftOut" ? "" : reading.value));
  const problem = readings.find((reading) => reading.kind === "problem");
  return problem === undefined ? { kind: "value", value } : { ...problem, value };
}

function readItem(item: Field, line: string, exactNumbers: ExactNumbers): Reading {
  if (item.type !== "boolean") return readField(item, line, exactNumbers);
  const value = ({ true: true, yes: true, false: false, no: false } as const)[
    line.trim().toLowerCase()
  ];
  return { kind: "value", value: value ?? line };
}

function readJSON(input: string, exactNumbers: ExactNumbers): Reading {
  if (input === "") return { kind: "leftOut" };
  try {
    const value = exactNumbers === "exact" ? parseExact(input) : JSON.parse(input);
    return { kind: "value", value };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: "problem", message: l10n.t("Not JSON: {0}", why), value: input };
  }
}
