import type { Field, McpElicitation } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { labelOf, titleOf } from "../lib/fields.ts";
import { json } from "../lib/format.ts";
import { visible } from "../lib/visible.ts";

/** Formats a field's value for people. A secret is never shown. */
export function fieldText(field: Field, value: unknown): string {
  if (field.secret) return masked;
  if (value === null) return l10n.t("(none)");
  if (Array.isArray(value) && value.every(isItem)) {
    return value.length === 0
      ? l10n.t("(none)")
      : value.map((item) => optionText(field, item)).join(", ");
  }
  return isItem(value) ? optionText(field, value) : json(value);
}

const masked = "•••";

type Item = string | number | boolean;

function isItem(value: unknown): value is Item {
  return ["string", "number", "boolean"].includes(typeof value);
}

function optionText(field: Field, value: Item): string {
  const options = field.type === "choice" || field.type === "choices" ? field.options : undefined;
  const option = options?.find(({ value: text, json: written }) =>
    written === undefined ? text === value : JSON.parse(written) === value,
  );
  if (option !== undefined) return labelOf(option);
  if (typeof value === "boolean") return value ? l10n.t("Yes") : l10n.t("No");
  return value === "" ? l10n.t("(empty text)") : String(value);
}

/** A value of an answer, formatted for people. */
export interface Answered {
  readonly name: string;
  readonly title: string;
  /** The full text, masked if it is a secret. */
  readonly text: string;
  /** The type of its field; undefined if the form has no such field. */
  readonly type: Field["type"] | undefined;
  readonly empty: boolean;
  readonly ticked: boolean;
}

/** Returns the values of a form's answer in the order of its fields, then those without a field. */
export function answersOf({
  elicitationRequest: { fields = [] },
  elicitationResponse,
}: McpElicitation): readonly Answered[] {
  const { content, secretFields = [] } = elicitationResponse ?? {};
  if (typeof content !== "object" || content === null || Array.isArray(content)) return [];
  const values = new Map(Object.entries(content));
  const textOf = (name: string, field: Field | undefined, value: unknown) => {
    if (secretFields.includes(name)) return masked;
    return visible(field === undefined ? json(value) : fieldText(field, value));
  };
  const known = fields.filter(({ name }) => values.has(name));
  const fieldOf = new Map(known.map((field) => [field.name, field]));
  const names = [...known.map(({ name }) => name), ...values.keys()];
  return [...new Set(names)].map((name) => {
    const field = fieldOf.get(name);
    const value = values.get(name);
    return {
      name,
      title: field === undefined ? visible(name) : titleOf(field),
      text: textOf(name, field, value),
      type: field?.type,
      empty: value === "" || (Array.isArray(value) && value.length === 0),
      ticked: field?.type === "boolean" && value === true,
    };
  });
}
