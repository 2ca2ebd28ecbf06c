import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Field } from "@assent/protocol";
import type { Draft, FieldInput } from "../view/viewState.ts";

/** A schema of protocol/testdata/forms.json, and answers to it. */
export interface FormCase {
  readonly name: string;
  /** What the sidecar reads of the schema. */
  readonly fields: readonly Field[];
  readonly answers: readonly FormAnswer[];
}

export interface FormAnswer {
  /** What the controls hold. */
  readonly inputs: Draft;
  /** What goes to the sidecar. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** The names of the fields that are wrong; empty where nothing is. */
  readonly problems: readonly string[];
}

interface TableCase {
  readonly name: string;
  readonly error?: string;
  readonly answers?: readonly {
    readonly inputs?: Draft;
    readonly answer: Readonly<Record<string, unknown>>;
    readonly problems?: readonly string[];
  }[];
}

/** The schemas that are not refused. */
export function readFormTable(): readonly FormCase[] {
  const table: readonly TableCase[] = read("forms.json");
  const fields: Readonly<Record<string, readonly Field[] | null>> = read("forms.fields.json");
  return table
    .filter(({ error }) => error === undefined)
    .map(({ name, answers = [] }) => ({
      name,
      fields: fields[name] ?? [],
      answers: answers.map(({ inputs, answer, problems = [] }) => ({
        inputs: inputs ?? inputsOf(answer),
        answer,
        problems,
      })),
    }));
}

/** What controls hold whose answer is that. */
function inputsOf(answer: Readonly<Record<string, unknown>>): Draft {
  const entries = Object.entries(answer).map(([name, value]): [string, FieldInput] => [
    name,
    typeof value === "number" ? String(value) : (value as FieldInput),
  ]);
  return Object.fromEntries(entries);
}

function read<T>(name: string): T {
  const path = join(import.meta.dirname, "../../../protocol/testdata", name);
  return JSON.parse(readFileSync(path, "utf8"));
}
