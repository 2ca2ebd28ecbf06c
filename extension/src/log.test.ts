import { expect, test } from "vitest";
import { type Log, logLine } from "./log.ts";

function written(line: string, older = false): readonly string[] {
  const lines: string[] = [];
  const write = (level: string) => (text: string) => lines.push(`${level}: ${text}`);
  const log: Log = {
    trace: write("trace"),
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
  logLine(log, line, older);
  return lines;
}

test.for<readonly [line: string, want: string]>([
  [
    '{"level":"warn","time":"2026-11-21T10:00:00Z","server":"a","pid":7,"message":"slow"}',
    'warn: slow server="a" pid=7',
  ],
  ['{"level":"fatal","message":"no disk"}', "error: no disk"],
  ['{"message":"without a level"}', "info: without a level"],
  ['{"level":"debug","count":1}', "debug: count=1"],
  ["panic: runtime error", "error: panic: runtime error"],
  ["12", "error: 12"],
  [
    '{"level":"info","stderr":"a\\u009b31m\\u202eb","message":"c\\u001b[2J\\u2028d"}',
    'info: c[U+001B][2J[U+2028]d stderr="a[U+009B]31m[U+202E]b"',
  ],
  ["fatal: \u001b[2J\u202ex", "error: fatal: [U+001B][2J[U+202E]x"],
])("%s is logged as %s", ([line, want]) => {
  expect(written(line)).toEqual([want]);
});

test("a line that may be older is written with its time", () => {
  const line = '{"level":"info","time":"2026-11-21T10:00:00Z","message":"ready"}';
  expect(written(line, true)).toEqual(["info: 2026-11-21T10:00:00Z ready"]);
});
