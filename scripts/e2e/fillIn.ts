import type { Field } from "@assent/protocol";

/** Returns the answer of a person who keeps a form's defaults and fills in the required fields. */
export function fillIn(fields: readonly Field[]): Readonly<Record<string, unknown>> {
  const content: Record<string, unknown> = {};
  for (const field of fields) {
    const value = field.default ?? (field.required ? any(field) : undefined);
    if (value !== undefined) content[field.name] = value;
  }
  return content;
}

/** A value that the field takes, as far as the suite's forms go. */
function any(field: Field): unknown {
  switch (field.type) {
    case "string":
      return "text";
    case "number":
      return field.minimum ?? field.maximum ?? 1;
    case "boolean":
      return true;
    case "choice":
      return field.options?.[0]?.value;
    case "choices":
      return field.options?.slice(0, field.minItems ?? 1).map(({ value }) => value);
    case "list":
      return ["text"];
    case "json":
      return {};
    default:
      return field satisfies never;
  }
}
