import { describe, expect, test } from "vitest";
import { readFormTable } from "../../testing/forms.ts";
import { readForm } from "./validate.ts";

// The sidecar's TestTable reads the same table: both come to the same verdict.
describe.each(readFormTable())("$name", ({ fields, answers }) => {
  test.each(answers)("$inputs", ({ inputs, answer, problems }) => {
    const reading = readForm(fields, inputs, "asText");
    if (reading.ok) expect(reading.content).toEqual(answer);
    expect(reading.ok ? [] : reading.problems.map(({ name }) => name)).toEqual(problems);
  });
});
