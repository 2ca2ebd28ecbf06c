/**
 * Decimal numbers as they are typed and sent. Nothing here depends on the locale, and nothing is
 * rounded: what a double would change goes to the sidecar as a text.
 */

const typed = /^([+-]?)([0-9]+)?(?:(\.)([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/;

export interface TypedNumber {
  /** The double that is nearest. */
  readonly nearest: number;
  /** It has no fraction, however it is written. */
  readonly whole: boolean;
  /** What goes into the answer: a number, or the text of one that a double does not hold. */
  readonly sent: number | string;
}

/** Reads what was typed; undefined where it is no number, or beyond what any number here can be. */
export function readDecimal(text: string): TypedNumber | undefined {
  const json = toJSON(text);
  if (json === undefined) return undefined;
  const nearest = Number(json);
  const exact = parts(json);
  if (!Number.isFinite(nearest) || exact === undefined) return undefined;
  const back = parts(String(nearest));
  const kept = back?.digits === exact.digits && back.exponent === exact.exponent;
  // Adding 0 makes 0 of -0, as JSON does.
  return { nearest, whole: exact.exponent >= 0, sent: kept ? nearest + 0 : json };
}

/** A number as JSON writes it: people write +5, .5, 5. and 007 too. */
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
  /** Without zeros at either end; those of 0 are none. */
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

/** Without the zeros at its end. An expression for that would take its time with very many zeros. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}
