import type { CheckFormParams, FieldProblem, Keyword } from "@assent/protocol";

/** Rules of fields: each returns the keyword that a value breaks. */
export type Rules = Readonly<Record<string, (value: unknown) => Keyword | undefined>>;

/** A sidecar that checks forms: what is required must be there, and what is there follows these rules. */
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
