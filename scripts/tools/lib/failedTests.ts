import { stripVTControlCharacters } from "node:util";

/** How a kind of test program writes which of its tests failed. */
type Reader = (lines: readonly string[]) => readonly string[];

/** Vitest: ` FAIL  |scripts| tools/a.test.ts > group > test`, in colours without the bars. */
const ofVitest: Reader = (lines) =>
  lines.flatMap((line) => {
    const [, project, rest] = /^ FAIL +\|?([\w-]+)\|? +(.+)$/.exec(line) ?? [];
    if (rest !== undefined) return [`${project}/${rest.replace(/ \[ .* \]$/, "")}`];
    const [, file] = /^This error originated in "(.+)" test file/.exec(line) ?? [];
    return file === undefined ? [] : [`${file} (an error outside of a test)`];
  });

/** Go: `--- FAIL: Test (0.01s)`, its subtests further to the right, and at last `FAIL	package	1.2s`. */
const ofGo: Reader = (lines) => {
  const failed: string[] = [];
  let tests: string[] = [];
  for (const line of lines) {
    const [, test] =
      /^ *--- FAIL: (\S+)/.exec(line) ?? /^\t\t((?:Test|Fuzz|Example)\S*) \(/.exec(line) ?? [];
    if (test !== undefined) tests.push(test);
    const [, where, how = ""] = /^FAIL\t(\S+)(?: (\[.+\])|\t|$)/.exec(line) ?? [];
    if (where === undefined) continue;
    // A test with a failed subtest says nothing of its own.
    const last = tests.filter((name) => !tests.some((other) => other.startsWith(`${name}/`)));
    failed.push(
      ...(last.length === 0 ? [`${where} ${how}`.trim()] : last.map((name) => `${where} ${name}`)),
    );
    tests = [];
  }
  return failed;
};

/** The stories and the conformance suite: `  FAIL  12.3 s  step`. */
const ofStories: Reader = (lines) =>
  lines.flatMap((line) => /^(?: {2}FAIL|FAILED) .*? s {2}(.+)$/.exec(line)?.[1] ?? []);

/** Returns the names of the failed tests in the output of a test program. */
export function failedTests(output: string): readonly string[] {
  const lines = stripVTControlCharacters(output).split(/\r?\n/);
  return [...new Set([ofVitest, ofGo, ofStories].flatMap((read) => read(lines)))];
}
