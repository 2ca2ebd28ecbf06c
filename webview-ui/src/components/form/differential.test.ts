import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Field, FieldProblem } from "@assent/protocol";
import { beforeAll, expect, test } from "vitest";
import { RandomForms, type Schema } from "../../testing/randomForms.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";
import { matches } from "./pattern.ts";
import { readField, readForm } from "./validate.ts";

// Schemas and inputs that nobody thought of: the sidecar and the form come to the same verdict. What
// differs belongs into protocol/testdata/forms.json. FORMS_COUNT and FORMS_SEED run more, and others.
const count = Number(process.env["FORMS_COUNT"] ?? 3000);
const seed = Number(process.env["FORMS_SEED"] ?? 1);
const root = join(import.meta.dirname, "../../../..");

interface Verdict {
  readonly error?: string;
  readonly fields?: readonly Field[];
  readonly problems?: readonly FieldProblem[];
  readonly sent?: unknown;
}

interface Question {
  readonly requestedSchema: Schema;
  readonly answer?: unknown;
}

/** Asks the sidecar's own code. */
function ask(questions: readonly Question[]): readonly Verdict[] {
  const answers = execFileSync("go", ["run", "./scripts/form-check"], {
    cwd: root,
    input: questions.map((question) => JSON.stringify(question)).join("\n"),
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  return answers
    .trim()
    .split("\n")
    .map((line): Verdict => JSON.parse(line));
}

beforeAll(() => {
  // What has to be compiled first is not what is timed.
  ask([{ requestedSchema: { type: "object" } }]);
}, 120_000);

test(`${count} forms of seed ${seed} have the same verdict on both sides`, {
  timeout: 60_000 + count,
}, () => {
  const random = new RandomForms(seed);
  const schemas = Array.from({ length: count }, () => random.schema());
  const read = ask(schemas.map((requestedSchema) => ({ requestedSchema })));
  const filled = schemas.flatMap((requestedSchema, index) => {
    const { error, fields = [] } = read[index] ?? {};
    if (error !== undefined) return [];
    const inputs: Draft = Object.fromEntries(
      fields.flatMap((field): [string, FieldInput][] => {
        const input = random.input(field);
        return input === undefined ? [] : [[field.name, input]];
      }),
    );
    return [{ requestedSchema, fields, inputs, answer: careless(fields, inputs) }];
  });
  // A generator that makes nothing but mistakes tests nothing.
  expect(filled.length).toBeGreaterThan(count / 3);
  const verdicts = ask(filled);
  let accepted = 0;
  for (const [index, { requestedSchema, fields, inputs, answer }] of filled.entries()) {
    const reading = readForm(fields, inputs, "asText");
    const here = reading.ok ? [] : reading.problems.map(({ name }) => name);
    const there = (verdicts[index]?.problems ?? []).map(({ name = "" }) => name);
    const what = JSON.stringify({ requestedSchema, inputs, answer });
    expect(here, what).toEqual(there);
    if (reading.ok) accepted++;
  }
  expect(accepted).toBeGreaterThan(count / 20);
});

test(`${count} patterns of seed ${seed} mean what JavaScript takes them for`, {
  timeout: 60_000 + count,
}, () => {
  const random = new RandomForms(seed);
  const patterns = Array.from({ length: count }, () => random.pattern(2));
  const read = ask(
    patterns.map((pattern) => ({
      requestedSchema: { type: "object", properties: { a: { type: "string", pattern } } },
    })),
  );
  let compared = 0;
  for (const [index, pattern] of patterns.entries()) {
    const field = read[index]?.fields?.[0];
    const expression = readExpression(pattern);
    if (field?.type !== "string" || field.program === undefined) continue;
    if (expression === undefined) continue;
    for (let i = 0; i < 5; i++) {
      // JavaScript's own engine takes exponential time for some of these.
      const text = random.text().slice(0, 10);
      expect(matches(field.program, text), JSON.stringify({ pattern, text })).toBe(
        expression.test(text),
      );
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(count);
});

function readExpression(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return undefined; // The sidecar is more lenient.
  }
}

/** What a front end would send that checks nothing. */
function careless(fields: readonly Field[], inputs: Draft): unknown {
  const entries = fields.flatMap((field): [string, unknown][] => {
    const input = own(inputs, field.name);
    const reading = readField(field, input, "asText");
    if (reading.kind === "value") return [[field.name, reading.value]];
    const empty = input === undefined || (typeof input === "string" && input.trim() === "");
    if (reading.kind === "leftOut" || (empty && field.type === "number")) return [];
    if (input === undefined || (input === "" && field.type === "string")) {
      return field.type === "choices" ? [[field.name, []]] : [];
    }
    return [[field.name, input]];
  });
  return Object.fromEntries(entries);
}
