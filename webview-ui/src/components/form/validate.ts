import type {
  ChoiceField,
  ChoicesField,
  Field,
  FieldProblem,
  JSONField,
  NumberField,
  StringField,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { exactly, parseExact } from "../../lib/exactJSON.ts";
import { plural } from "../../lib/l10n.ts";
import { readDecimal } from "../../lib/numbers.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";
import { wrongFormat } from "./formats.ts";
import { matches } from "./pattern.ts";

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
 * Besides this, the verdict is the sidecar's: protocol/testdata/forms.json drives both. The sidecar
 * has the last word, and its refusal is shown in the same place.
 */
export type Reading =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "leftOut" }
  | { readonly kind: "problem"; readonly message: string };

/** What a whole form means: the answer, or what is wrong with it, in the order of the fields. */
export type FormReading =
  | { readonly ok: true; readonly content: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/**
 * How numbers go that a double does not hold exactly: as texts, which the sidecar makes numbers of in
 * the answer to an elicitation; as what exactJSON.ts writes; or not at all.
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
    if (reading.kind === "value") entries.push([field.name, reading.value]);
    if (reading.kind === "problem") problems.push({ name: field.name, message: reading.message });
  }
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, content: Object.fromEntries(entries) };
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
      return readNumber(field, text(input).trim(), exactNumbers);
    case "boolean":
      if (typeof input === "boolean") return { kind: "value", value: input };
      return field.required ? { kind: "value", value: false } : { kind: "leftOut" };
    case "choice":
      return readChoice(field, typeof input === "string" ? input : undefined);
    case "choices":
      return readChoices(field, Array.isArray(input) ? input : undefined);
    case "json":
      return readJSON(field, text(input).trim(), exactNumbers);
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

function readString(field: StringField, typed: string): Reading {
  // Half a character, which JSON cannot carry, counts as one that is lost.
  const input = typed.replace(/\p{Surrogate}/gu, "\ufffd");
  if (input === "" && !(field.required && field.minLength === 0)) {
    return empty(field, l10n.t("Required"));
  }
  const wrong =
    wrongLength(field, input) ?? wrongFormat(field.format, input) ?? wrongPattern(field, input);
  return wrong === undefined ? { kind: "value", value: input } : problem(wrong);
}

function wrongLength({ minLength = 0, maxLength }: StringField, input: string): string | undefined {
  const length = [...input].length;
  if (length < minLength) {
    return plural(
      minLength,
      l10n.t("At least 1 character; this has {1}"),
      l10n.t("At least {0} characters; this has {1}"),
      length,
    );
  }
  if (maxLength !== undefined && length > maxLength) {
    return plural(
      maxLength,
      l10n.t("At most 1 character; this has {1}"),
      l10n.t("At most {0} characters; this has {1}"),
      length,
    );
  }
  return undefined;
}

/** The server's own words say more to a person than its regular expression. */
function wrongPattern(field: StringField, input: string): string | undefined {
  const { pattern = "", program, description = "" } = field;
  if (program === undefined || matches(program, input)) return undefined;
  return description === ""
    ? l10n.t("Does not match the pattern {0}", brief(pattern))
    : l10n.t("Does not match: {0}", brief(description));
}

function readNumber(field: NumberField, input: string, exactNumbers: ExactNumbers): Reading {
  if (input === "") return empty(field, l10n.t("Required"));
  const number = readDecimal(input);
  if (number === undefined || (field.integer && !number.whole)) {
    return problem(
      field.integer
        ? l10n.t("Not a whole number, such as 12")
        : l10n.t("Not a number; write it like 12.5"),
    );
  }
  if (field.minimum !== undefined && number.nearest < field.minimum) {
    return problem(l10n.t("At least {0}", field.minimum));
  }
  if (field.maximum !== undefined && number.nearest > field.maximum) {
    return problem(l10n.t("At most {0}", field.maximum));
  }
  if (typeof number.sent === "number" || exactNumbers === "asText") {
    return { kind: "value", value: number.sent };
  }
  return exactNumbers === "exact"
    ? { kind: "value", value: exactly(number.sent) }
    : problem(l10n.t("Too many digits to be passed on exactly"));
}

function readChoice(field: ChoiceField, input: string | undefined): Reading {
  if (input === undefined) return empty(field, l10n.t("Choose one"));
  return field.options?.some(({ value }) => value === input)
    ? { kind: "value", value: input }
    : problem(l10n.t("Choose one of the options"));
}

function readChoices(field: ChoicesField, input: readonly string[] | undefined): Reading {
  const { required = false, minItems = 0, maxItems, options = [] } = field;
  const ticked = new Set(input);
  const chosen = options.map(({ value }) => value).filter((value) => ticked.has(value));
  if (chosen.length === 0 && !required && (input === undefined || minItems > 0)) {
    return { kind: "leftOut" };
  }
  if (chosen.length < minItems) return problem(l10n.t("Choose at least {0}", minItems));
  if (maxItems !== undefined && chosen.length > maxItems) {
    return problem(l10n.t("Choose at most {0}", maxItems));
  }
  return { kind: "value", value: chosen };
}

function readJSON(field: JSONField, input: string, exactNumbers: ExactNumbers): Reading {
  if (input === "") return empty(field, l10n.t("Required"));
  try {
    const value = exactNumbers === "exact" ? parseExact(input) : JSON.parse(input);
    return { kind: "value", value };
  } catch (error) {
    return problem(l10n.t("Not JSON: {0}", error instanceof Error ? error.message : String(error)));
  }
}
