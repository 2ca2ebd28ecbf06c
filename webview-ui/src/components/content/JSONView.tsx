import * as l10n from "@vscode/l10n";
import { type ReactNode, useState } from "react";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { isNumber, isParent, leafText, type Row, type Table, tableOf } from "./structured.ts";

export interface JSONViewProps {
  /** A value of JSON, from `parseExact` where a double cannot hold a number. */
  readonly value: unknown;
  /** Names the value in the view's state; unique in the panel. */
  readonly keep: string;
}

/** A value of JSON for reading: lists of flat objects as tables, everything else as a tree. Its size does not matter. */
export function JSONView({ value, keep }: JSONViewProps) {
  return <Value value={value} name={undefined} keep={keep} depth={0} />;
}

interface ValueProps extends JSONViewProps {
  /** The name of the member or the place in the list; undefined for the whole. */
  readonly name: string | undefined;
  readonly depth: number;
}

function Value({ value, name, keep, depth }: ValueProps) {
  if (!isParent(value)) return <Leaf value={value} name={name} />;
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (count === 0) return <Named name={name}>{Array.isArray(value) ? "[]" : "{}"}</Named>;
  const inside = <Parent {...{ value, name, keep, depth }} />;
  if (name === undefined) return inside;
  return (
    <Disclosure
      keep={keep}
      summary={
        <>
          <span className="name">{visible(name)}</span>{" "}
          <span className="muted">{countWords(value, count)}</span>
        </>
      }
      initiallyOpen={depth <= 1}
    >
      {inside}
    </Disclosure>
  );
}

function countWords(value: readonly unknown[] | Row, count: number): string {
  return Array.isArray(value)
    ? plural(count, l10n.t("1 item"), l10n.t("{0} items"))
    : plural(count, l10n.t("1 member"), l10n.t("{0} members"));
}

interface ParentProps extends ValueProps {
  readonly value: readonly unknown[] | Row;
}

function Parent({ value, name, keep, depth }: ParentProps) {
  const table = tableOf(value);
  if (table !== undefined) return <TableView {...{ table, name }} />;
  return <Members {...{ value, keep, depth }} />;
}

/** So many rows or members are drawn at first, and so many more with each step. */
const firstRows = 50;
const moreRows = 200;

interface MembersProps {
  readonly value: readonly unknown[] | Row;
  readonly keep: string;
  readonly depth: number;
}

function Members({ value, keep, depth }: MembersProps) {
  const [shown, setShown] = useState(firstRows);
  const entries = Object.entries(value);
  return (
    <>
      <ul className="json-members">
        {entries.slice(0, shown).map(([name, member]) => (
          <li key={name}>
            <Value value={member} name={name} keep={`${keep}/${name}`} depth={depth + 1} />
          </li>
        ))}
      </ul>
      <More shown={shown} count={entries.length} onMore={setShown} />
    </>
  );
}

interface MoreProps {
  readonly shown: number;
  readonly count: number;
  readonly onMore: (shown: number) => void;
}

function More({ shown, count, onMore }: MoreProps) {
  if (shown >= count) return null;
  return (
    <button type="button" className="link" onClick={() => onMore(shown + moreRows)}>
      {l10n.t("Show more ({0} of {1} are shown)", shown.toLocaleString(), count.toLocaleString())}
    </button>
  );
}

function Named({ name, children }: { readonly name: string | undefined; children: ReactNode }) {
  return (
    <p className="json-leaf">
      {name !== undefined && <span className="name">{visible(name)}</span>}{" "}
      <span className="json-value">{children}</span>
    </p>
  );
}

function Leaf({ value, name }: { readonly value: unknown; readonly name: string | undefined }) {
  return (
    <Named name={name}>
      <Text value={value} most={longestLeaf} />
    </Named>
  );
}

/** More characters of a text are drawn on demand, and with each step. */
const longestLeaf = 2000;
const longestCell = 200;
const moreCharacters = 20_000;

/** A text, a number, true, false or null. */
function Text({ value, most }: { readonly value: unknown; readonly most: number }) {
  const [length, setLength] = useState(most);
  const text = leafText(value);
  if (typeof value !== "string") return <span className="json-word">{visible(text)}</span>;
  if (text.length <= length) return visible(text);
  return (
    <>
      {visible(text.slice(0, length))}…{" "}
      <button type="button" className="link" onClick={() => setLength(length + moreCharacters)}>
        {l10n.t(
          "Show more ({0} of {1} characters are shown)",
          length.toLocaleString(),
          text.length.toLocaleString(),
        )}
      </button>
    </>
  );
}

interface TableViewProps {
  readonly table: Table;
  readonly name: string | undefined;
}

function TableView({ table: { columns, rows }, name }: TableViewProps) {
  const [shown, setShown] = useState(firstRows);
  const label =
    name === undefined ? l10n.t("Structured result") : l10n.t("Table {0}", visible(name));
  return (
    <>
      {/* biome-ignore-start lint/a11y/useSemanticElements: a table in a card is no landmark, and no fieldset. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls is scrolled by the keyboard, too. */}
      <div className="json-table" role="group" aria-label={label} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column}
                  scope="col"
                  className={isNumber(rows[0]?.[column] ?? "") ? "json-number" : undefined}
                >
                  {visible(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row has no name but its place.
              <tr key={index}>
                {columns.map((column) => (
                  <Cell key={column} value={Object.hasOwn(row, column) ? row[column] : undefined} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {/* biome-ignore-end lint/a11y/useSemanticElements: a table in a card is no landmark, and no fieldset. */}
      <More shown={shown} count={rows.length} onMore={setShown} />
    </>
  );
}

function Cell({ value }: { readonly value: unknown }) {
  if (value === undefined) return <td />;
  return (
    <td className={isNumber(value) ? "json-number" : undefined}>
      <Text value={value} most={longestCell} />
    </td>
  );
}
