import { writeExact } from "../../lib/exactJSON.ts";

/** A value of JSON, from `parseExact` where a double cannot hold a number. */
export type Row = Readonly<Record<string, unknown>>;

/** A list of flat objects, as rows with the same columns. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** A table with more columns is not easier to read than the objects one by one. */
const mostColumns = 20;

/** Returns a list of flat objects as a table; undefined if the value is something else, or has too many columns. */
export function tableOf(value: unknown): Table | undefined {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isFlat)) return undefined;
  const columns = new Set<string>();
  for (const row of value) {
    for (const name of Object.keys(row)) columns.add(name);
    if (columns.size > mostColumns) return undefined;
  }
  return columns.size === 0 ? undefined : { columns: [...columns], rows: value };
}

function isFlat(value: unknown): value is Row {
  return (
    isParent(value) && !Array.isArray(value) && Object.values(value).every((it) => !isParent(it))
  );
}

/** Reports whether a value is a list or an object. A number that a double cannot hold is neither. */
export function isParent(value: unknown): value is readonly unknown[] | Row {
  return typeof value === "object" && value !== null && !JSON.isRawJSON(value);
}

/** Reports whether a value is a number, also one that a double cannot hold. */
export function isNumber(value: unknown): boolean {
  return typeof value === "number" || (value !== null && JSON.isRawJSON(value));
}

/** Returns what is not a list or an object as a text. Texts are as they are, numbers have all of their digits. */
export function leafText(value: unknown): string {
  return typeof value === "string" ? value : writeExact(value);
}
