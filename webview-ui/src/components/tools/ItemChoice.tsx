import { useId, useState } from "react";
import { visible } from "../../lib/visible.ts";
import { ServerIcon } from "../ui/ServerIcon.tsx";
import { type ItemKind, itemWords } from "./itemWords.ts";

/** An item with a name for programs and a title for people. */
export interface Named {
  readonly name: string;
  /** Of a resource template. */
  readonly uriTemplate?: string;
  readonly title?: string;
}

export interface ItemChoiceProps<T extends Named> {
  readonly serverName: string;
  readonly kind: keyof typeof lists;
  readonly items: readonly T[];
  readonly chosen: T | undefined;
  readonly onChoose: (item: T) => void;
}

/** The list of each kind of item, and what identifies an item in it. */
const lists = {
  tool: "tools",
  template: "resourceTemplates",
  prompt: "prompts",
} as const;

/** With more items than this, there is a filter. */
export const fewItems = 8;

/** The choice of a server's tool, template or prompt. */
export function ItemChoice<T extends Named>(props: ItemChoiceProps<T>) {
  const { serverName, kind, items, chosen, onChoose } = props;
  const { label, choose } = itemWords(kind, items.length);
  const [filter, setFilter] = useState("");
  const id = useId();
  // Two may have the same name, so the control's own values are indexes.
  const shown = items
    .map((item, index) => ({ item, index }))
    .filter(({ item }) => item === chosen || matches(filter, item.name, item.title));
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {items.length > fewItems && (
        <Filter kind={kind} count={items.length} filter={filter} onFilter={setFilter} />
      )}
      <div className="iconed-choice">
        {chosen !== undefined && (
          <ServerIcon
            {...{ serverName }}
            list={lists[kind]}
            item={chosen.uriTemplate ?? chosen.name}
          />
        )}
        <select
          id={id}
          value={chosen === undefined ? "" : items.indexOf(chosen)}
          onChange={(event) => {
            const item = items[Number(event.target.value)];
            if (item !== undefined) onChoose(item);
          }}
        >
          <option value="" disabled>
            {choose}
          </option>
          {shown.map(({ item, index }) => (
            <option key={index} value={index}>
              {visible(titleOf(item))}
            </option>
          ))}
        </select>
      </div>
    </div>
  );
}

export interface FilterProps {
  readonly kind: ItemKind;
  readonly count: number;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
}

/** Filters a long list. */
export function Filter({ kind, count, filter, onFilter }: FilterProps) {
  const words = itemWords(kind, count);
  return (
    <input
      type="search"
      aria-label={words.filter}
      placeholder={words.filterMany}
      value={filter}
      onChange={(event) => onFilter(event.target.value)}
    />
  );
}

export function matches(filter: string, ...texts: readonly (string | undefined)[]): boolean {
  const wanted = filter.trim().toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(wanted));
}

/** The title is for people. The name is the one that calls show. */
function titleOf({ name, title }: Named): string {
  return title === undefined || title === "" || title === name ? name : `${title} (${name})`;
}
