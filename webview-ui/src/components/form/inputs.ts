import type { Field } from "@assent/protocol";
import { unreachable } from "../../lib/unreachable.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";

/** The initial inputs: the draft if there is one, otherwise the fields' defaults. */
export function initialInputs(fields: readonly Field[], draft: Draft | undefined): Draft {
  const entries = fields.flatMap((field): [string, FieldInput][] => {
    const input =
      draft === undefined || field.secret ? defaultInput(field) : own(draft, field.name);
    return input === undefined ? [] : [[field.name, input]];
  });
  return Object.fromEntries(entries);
}

/** The inputs that may be stored: all that do not look like secrets. */
export function keepable(fields: readonly Field[], inputs: Draft): Draft {
  const kept = fields.flatMap((field): [string, FieldInput][] => {
    const input = own(inputs, field.name);
    return input === undefined || field.secret ? [] : [[field.name, input]];
  });
  return Object.fromEntries(kept);
}

/** Sets one input. Without a value, it becomes untouched. */
export function withInput(inputs: Draft, name: string, input: FieldInput | undefined): Draft {
  const others = Object.entries(inputs).filter(([key]) => key !== name);
  return Object.fromEntries(input === undefined ? others : [...others, [name, input]]);
}

function defaultInput(field: Field): FieldInput | undefined {
  switch (field.type) {
    case "string":
    case "boolean":
      return field.default;
    case "number":
      return field.defaultText ?? (field.default === undefined ? undefined : String(field.default));
    case "choice":
      return field.options?.some(({ value }) => value === field.default)
        ? field.default
        : undefined;
    case "choices":
      return field.default;
    case "list":
      return field.default?.join("\n");
    case "json":
      return field.default === undefined ? undefined : JSON.stringify(field.default, null, 2);
    default:
      return unreachable(field);
  }
}
