/** Ends an exhaustive switch: it does not compile while a variant is missing. */
export function unreachable(value: never): never {
  throw new Error(`unexpected ${JSON.stringify(value)}`);
}
