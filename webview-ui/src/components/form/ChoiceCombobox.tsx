import type { Option } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { labelOf } from "../../lib/fields.ts";
import type { ChoiceProps } from "./ChoiceControls.tsx";
import type { SharedProps } from "./controlProps.ts";
import { Suggestions } from "./Suggestions.tsx";

/** The most options to draw. Typing finds the others. */
const maxShown = 100;

/** One of very many options: a combobox by the ARIA pattern. Typing finds the options. */
export function ChoiceCombobox({
  field,
  chosen,
  shared,
  onInput,
}: ChoiceProps & { readonly shared: SharedProps }) {
  const { options = [] } = field;
  /** What the person types; undefined while the list is closed. */
  const [typed, setTyped] = useState<string>();
  const [active, setActive] = useState(-1);
  const control = useRef<HTMLInputElement>(null);
  const listId = useId();
  const taken = options.find(({ value }) => value === chosen);
  const open = typed !== undefined;
  const found = open ? matching(options, typed) : [];
  const shown = found.slice(0, maxShown);
  const optionId = (index: number) => `${listId}-${index}`;

  const type = (text: string) => {
    setTyped(text);
    setActive(text.trim() === "" ? -1 : 0);
    if (text === "") onInput(undefined);
  };
  const close = () => {
    setTyped(undefined);
    setActive(-1);
  };
  const take = (option: Option | undefined) => {
    if (option !== undefined) onInput(option.value);
    close();
  };
  const openAll = () => {
    setTyped("");
    const at = taken === undefined ? -1 : options.indexOf(taken);
    setActive(at < maxShown ? at : -1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey) return;
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !open) openAll();
    else if (event.key === "ArrowDown") setActive(Math.min(active + 1, shown.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(active - 1, 0));
    else if (event.key === "Enter" && open) take(shown[active]);
    else if (event.key === "Escape" && open) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="suggest">
      <input
        {...shared}
        ref={control}
        type="text"
        role="combobox"
        autoComplete="off"
        spellCheck={false}
        aria-autocomplete="list"
        aria-expanded={open && shown.length > 0}
        aria-controls={listId}
        aria-activedescendant={active < 0 ? undefined : optionId(active)}
        placeholder={l10n.t("Type to find one of {0}", options.length.toLocaleString())}
        value={typed ?? (taken === undefined ? "" : labelOf(taken))}
        onChange={(event) => type(event.target.value)}
        onFocus={(event) => event.target.select()}
        onClick={() => {
          if (!open) openAll();
        }}
        onKeyDown={onKeyDown}
        onBlur={() => {
          // A whole name that was typed is chosen.
          const named = typed?.trim().toLowerCase();
          take(shown.find((option) => labelOf(option).toLowerCase() === named));
          shared.onBlur();
        }}
      />
      {open && shown.length > 0 && (
        <Suggestions
          id={listId}
          label={l10n.t("Options")}
          {...{ control, active, optionId }}
          count={shown.length}
          keyOf={(index) => shown[index]?.value ?? ""}
          onTake={(index) => take(shown[index])}
        >
          {(index) => {
            const option = shown[index];
            return option === undefined ? null : labelOf(option);
          }}
        </Suggestions>
      )}
      <p role="status" className="field-description">
        {open && found.length !== options.length && foundWords(found.length, options.length)}
      </p>
    </div>
  );
}

/** The options with the text in their label. Those that begin with it come first. */
function matching(options: readonly Option[], typed: string): readonly Option[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === "") return options;
  const places = options.map(({ value, title = "" }) =>
    (title === "" ? value : title).toLowerCase().indexOf(wanted),
  );
  return [
    ...options.filter((_, index) => places[index] === 0),
    ...options.filter((_, index) => (places[index] ?? -1) > 0),
  ];
}

function foundWords(found: number, all: number): string {
  return found <= maxShown
    ? l10n.t("{0} of {1} found.", found, all.toLocaleString())
    : l10n.t(
        "{0} of {1} found, the first {2} are shown.",
        found.toLocaleString(),
        all.toLocaleString(),
        maxShown,
      );
}
