import type { ChoiceField, ChoicesField } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { labelOf } from "../../lib/fields.ts";
import type { SharedProps } from "./controlProps.ts";
import { FilteredOptions } from "./FilteredOptions.tsx";

export interface ChoiceProps {
  readonly field: ChoiceField;
  /** The chosen option's value; undefined if none is chosen. */
  readonly chosen: string | undefined;
  readonly onInput: (input: string | undefined) => void;
}

/** One of many options. */
export function ChoiceSelect({
  field,
  chosen,
  shared,
  onInput,
}: ChoiceProps & { readonly shared: SharedProps }) {
  const { options = [] } = field;
  // An option may be the empty text, so the control's own values are indexes.
  const index = options.findIndex(({ value }) => value === chosen);
  return (
    <select
      {...shared}
      value={index}
      onChange={(event) => onInput(options[Number(event.target.value)]?.value)}
    >
      <option value={-1} disabled={field.required ?? false}>
        {field.required ? l10n.t("Choose…") : l10n.t("No answer")}
      </option>
      {options.map((option, position) => (
        <option key={option.value} value={position}>
          {labelOf(option)}
        </option>
      ))}
    </select>
  );
}

/** One of a few options. */
export function Radios({
  field,
  chosen,
  onInput,
  group,
}: ChoiceProps & {
  /** Groups the radios; unique in the page. */
  readonly group: string;
}) {
  const { options = [], required = false } = field;
  return (
    <>
      {options.map((option) => (
        <label key={option.value} className="tick">
          <input
            type="radio"
            name={group}
            checked={option.value === chosen}
            onChange={() => onInput(option.value)}
          />
          <span>{labelOf(option)}</span>
        </label>
      ))}
      {!required && (
        <label className="tick">
          <input
            type="radio"
            name={group}
            checked={chosen === undefined}
            onChange={() => onInput(undefined)}
          />
          <span>{l10n.t("No answer")}</span>
        </label>
      )}
    </>
  );
}

/** Any of several options. */
export function Ticks({
  field,
  chosen,
  onInput,
}: {
  readonly field: ChoicesField;
  readonly chosen: readonly string[];
  readonly onInput: (input: readonly string[]) => void;
}) {
  const ticked = new Set(chosen);
  return (
    <FilteredOptions options={field.options ?? []} isChosen={({ value }) => ticked.has(value)}>
      {(option) => (
        <label key={option.value} className="tick">
          <input
            type="checkbox"
            checked={ticked.has(option.value)}
            onChange={(event) =>
              onInput(
                event.target.checked
                  ? [...chosen, option.value]
                  : chosen.filter((value) => value !== option.value),
              )
            }
          />
          <span>{labelOf(option)}</span>
        </label>
      )}
    </FilteredOptions>
  );
}
