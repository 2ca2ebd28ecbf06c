import { readDecimal } from "./numbers.ts";

// TypeScript's library lacks these (ECMA-262, "JSON.rawJSON").
declare global {
  interface JSON {
    rawJSON(text: string): unknown;
    isRawJSON(value: unknown): boolean;
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: Source) => unknown,
    ): unknown;
  }
}

interface Source {
  /** The source text; only for a text, number, true, false or null. */
  readonly source?: string;
}

/**
 * Parses JSON so that {@link writeExact} returns every number as it was written. Numbers that a double cannot hold
 * become raw JSON. Throws if the text is not JSON.
 */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !isHeld(source) ? exactly(source) : value,
  );
}

/** Reports whether doubles can hold all numbers of a JSON text. Throws if it is not JSON. */
export function isExact(text: string): boolean {
  let exact = true;
  JSON.parse(text, (_key, value, { source }) => {
    if (typeof value === "number" && source !== undefined && !isHeld(source)) exact = false;
    return value;
  });
  return exact;
}

/** Creates a number that {@link writeExact} writes with this text. */
export function exactly(number: string): unknown {
  return JSON.rawJSON(number);
}

/** Writes the result of {@link parseExact}, or values of fields. */
export function writeExact(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent) ?? "";
}

function isHeld(source: string): boolean {
  return typeof readDecimal(source)?.sent === "number";
}

/** Formats arguments with all digits. The text is given if doubles cannot hold their numbers. */
export function shownArguments(args: unknown, text: string | undefined): string {
  return writeExact(text === undefined ? args : parseExact(text), 2);
}
