/**
 * Decimal numbers as they are typed and sent. Nothing depends on the locale and nothing is rounded: a number that a
 * double would change is sent as a text.
 */

const typed = /^([+-]?)([0-9]+)?(?:(\.)([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/;

export interface TypedNumber {
  /** The nearest double. */
  readonly nearest: number;
  /** Whether it has no fraction, in any notation. */
  readonly whole: boolean;
  /** The value for the answer: a number, or a text if a double cannot hold it. */
  readonly sent: number | string;
}

/** Parses a typed number; undefined if it is invalid or out of range. */
export function readDecimal(text: string): TypedNumber | undefined {
  const json = toJSON(text);
  if (json === undefined) return undefined;
  const nearest = Number(json);
  const exact = parts(json);
  if (!Number.isFinite(nearest) || exact === undefined) return undefined;
  const back = parts(String(nearest));
  const kept = back?.digits === exact.digits && back.exponent === exact.exponent;
  // Adding 0 turns -0 into 0, as in JSON.
  return { nearest, whole: exact.exponent >= 0, sent: kept ? nearest + 0 : json };
}

/** Converts to JSON's notation. People also write +5, .5, 5. and 007. */
function toJSON(text: string): string | undefined {
  const match = typed.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", , fraction = "", exponent] = match;
  if (whole === "" && fraction === "") return undefined;
  const digits = whole.replace(/^0+(?=[0-9])/, "");
  return [
    sign === "-" ? "-" : "",
    digits === "" ? "0" : digits,
    fraction === "" ? "" : `.${fraction}`,
    exponent === undefined ? "" : `e${exponent}`,
  ].join("");
}

interface Parts {
  /** Without leading and trailing zeros; empty for 0. */
  readonly digits: string;
  readonly exponent: number;
}

function parts(json: string): Parts | undefined {
  const match = typed.exec(json);
  if (match === null) return undefined;
  const [, , whole = "", , fraction = "", exponent = "0"] = match;
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = withoutZeros(all);
  return {
    digits,
    exponent: digits === "" ? 0 : Number(exponent) - fraction.length + (all.length - digits.length),
  };
}

/** Removes trailing zeros. A regular expression would be slow with very many zeros. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}
