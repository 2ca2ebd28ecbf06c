import { failedTests } from "./failedTests.ts";

/** Shows text to the person, or keeps it for later. */
export type Show = (text: string) => void;

/** A part of a long run, such as all tests of one kind. */
export interface Step<Name extends string = string> {
  readonly title: string;
  /** The steps before it whose results it uses. */
  readonly needs?: readonly Name[];
  /** It runs in parallel with the later steps. Its output is shown when it has ended. */
  readonly beside?: boolean;
  /** `show` gets the output of tests. */
  run(show: Show): Promise<void>;
}

interface Report {
  /** For the summary. */
  readonly line: string;
  readonly ok: boolean;
  /** What failed: tests by their names, or else why the step ended. */
  readonly failed: readonly string[];
}

/**
 * Runs steps in their order, each under a heading. When one fails, those that do not need it still run; a needed step that
 * is not among them counts as done. Returns a line for each step, and after them one for each failed test.
 */
export async function runSteps(
  steps: Readonly<Record<string, Step>>,
  show: Show,
): Promise<{ readonly ok: boolean; readonly lines: readonly string[] }> {
  const reports = new Map<string, Promise<Report>>();
  for (const [name, step] of Object.entries(steps)) {
    const needed = (step.needs ?? []).map((need) => reports.get(need));
    const reported = reportAfter(needed, name, step, show);
    reports.set(name, reported);
    if (!step.beside) await reported;
  }
  const all = await Promise.all(reports.values());
  return {
    ok: all.every(({ ok }) => ok),
    lines: [...all.map(({ line }) => line), ...all.flatMap(({ failed }) => failed)],
  };
}

async function reportAfter(
  needed: readonly (Promise<Report> | undefined)[],
  name: string,
  step: Step,
  show: Show,
): Promise<Report> {
  const isReady = (await Promise.all(needed)).every((each) => each?.ok ?? true);
  if (isReady) return await report(name, step, show);
  return { line: `not run            ${name}: ${step.title}`, ok: false, failed: [] };
}

async function report(name: string, step: Step, show: Show): Promise<Report> {
  let written = "";
  const take = (text: string): void => {
    written += text;
    if (!step.beside) show(text);
  };
  take(`\n=== ${name}: ${step.title}\n`);
  const start = performance.now();
  const failed: string[] = [];
  try {
    await step.run(take);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    take(`${message}\n`);
    const tests = failedTests(written);
    failed.push(...(tests.length > 0 ? tests : message.split("\n", 1)));
  }
  if (step.beside) show(written);
  const ok = failed.length === 0;
  const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
  return {
    line: `${ok ? "ok    " : "FAILED"} ${seconds} s  ${name}: ${step.title}`,
    ok,
    failed: failed.map((what) => `FAILED ${name}: ${what}`),
  };
}
