import type { CheckFormParams, FieldProblem, Keyword } from "@assent/protocol";

/** Rules of fields. Each returns the keyword that a value violates. */
export type Rules = Readonly<Record<string, (value: unknown) => Keyword | undefined>>;

/** A sidecar that checks forms: required values must exist, and all values must follow these rules. */
export function checkBy(rules: Rules = {}) {
  return async ({ fields, content }: CheckFormParams): Promise<FieldProblem[]> => {
    const values = content as Readonly<Record<string, unknown>>;
    return (fields ?? []).flatMap(({ name, required }) => {
      const isMissing = required === true && !Object.hasOwn(values, name);
      const keyword = isMissing ? "required" : rules[name]?.(values[name]);
      return keyword === undefined ? [] : [{ name, message: `breaks ${keyword}`, keyword }];
    });
  };
}
