import { readDecimal } from "./numbers.ts";

// TypeScript's library does not know these yet (ECMA-262, "JSON.rawJSON").
declare global {
  interface JSON {
    rawJSON(text: string): unknown;
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: Source) => unknown,
    ): unknown;
  }
}

interface Source {
  /** What was written; of a text, number, true, false or null only. */
  readonly source?: string;
}

/**
 * Reads JSON so that {@link writeExact} gives back every number as it was written: one that a double does not
 * hold becomes what stands for it in JSON's own functions. Throws where it is no JSON.
 */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !isHeld(source) ? exactly(source) : value,
  );
}

/** Says whether doubles hold all numbers of a JSON text. Throws where it is none. */
export function isExact(text: string): boolean {
  let exact = true;
  JSON.parse(text, (_key, value, { source }) => {
    if (typeof value === "number" && source !== undefined && !isHeld(source)) exact = false;
    return value;
  });
  return exact;
}

/** What {@link writeExact} writes as this number. */
export function exactly(number: string): unknown {
  return JSON.rawJSON(number);
}

/** Writes what {@link parseExact} has read, or what fields have. */
export function writeExact(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent) ?? "";
}

function isHeld(source: string): boolean {
  return typeof readDecimal(source)?.sent === "number";
}

/** Arguments as they are shown, with all digits; the text is there where doubles do not hold them. */
export function shownArguments(args: unknown, text: string | undefined): string {
  return writeExact(text === undefined ? args : parseExact(text), 2);
}
