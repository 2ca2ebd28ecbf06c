/** Ends an exhaustive switch. It does not compile if a variant is missing. */
export function unreachable(value: never): never {
  throw new Error(`unexpected ${JSON.stringify(value)}`);
}
