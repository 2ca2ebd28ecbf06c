import type { Option } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type ReactNode, useId, useState } from "react";

/** Up to this many options are all shown. With more, a filter finds some. */
const maxUnfiltered = 100;

/** The most options that a filter shows, so that they need no scrolling of their own. */
const maxFound = 20;

export interface FilteredOptionsProps {
  readonly options: readonly Option[];
  /** Chosen options are always shown, so that the person sees everything that is sent. */
  readonly isChosen: (option: Option) => boolean;
  /** Draws an option. */
  readonly children: (option: Option) => ReactNode;
}

/** The options of a field: all of them, or those that a filter finds. */
export function FilteredOptions({ options, isChosen, children }: FilteredOptionsProps) {
  const [filter, setFilter] = useState("");
  const statusId = useId();
  if (options.length <= maxUnfiltered) return options.map(children);
  const wanted = filter.trim().toLowerCase();
  const found = options.filter(({ value, title = "" }) =>
    (title === "" ? value : title).toLowerCase().includes(wanted),
  );
  const drawn = new Set(found.slice(0, maxFound));
  return (
    <>
      <input
        type="search"
        aria-label={l10n.t("Find an option")}
        aria-describedby={statusId}
        autoComplete="off"
        spellCheck={false}
        placeholder={l10n.t("Filter {0} options", options.length.toLocaleString())}
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.preventDefault(); // it must not submit the form
        }}
      />
      <p id={statusId} role="status" className="field-description">
        {found.length <= maxFound
          ? l10n.t("{0} of {1} found.", found.length, options.length.toLocaleString())
          : l10n.t("{0} found, the first {1} are shown.", found.length.toLocaleString(), maxFound)}
      </p>
      {options.filter((option) => drawn.has(option) || isChosen(option)).map(children)}
    </>
  );
}
