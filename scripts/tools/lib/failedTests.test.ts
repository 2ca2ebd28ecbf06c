import { expect, test } from "vitest";
import { failedTests } from "./failedTests.ts";

test.each([
  {
    name: "Vitest, without colours",
    output: [
      " ❯ |scripts| tools/a.test.ts (2 tests | 1 failed) 12ms",
      " FAIL  |scripts| tools/a.test.ts > a group > a > test",
      "AssertionError: expected 1 to be 2",
      " FAIL  |webview-ui| src/b.test.tsx [ webview-ui/src/b.test.tsx ]",
      'This error originated in "extension/src/c.test.ts" test file. It does not mean much.',
    ],
    want: [
      "scripts/tools/a.test.ts > a group > a > test",
      "webview-ui/src/b.test.tsx",
      "extension/src/c.test.ts (an error outside of a test)",
    ],
  },
  {
    name: "Vitest, in colours",
    output: [
      "\u001b[41m\u001b[1m FAIL \u001b[22m\u001b[49m \u001b[30m\u001b[46m scripts \u001b[49m\u001b[39m a.test.ts\u001b[2m > \u001b[22mb",
    ],
    want: ["scripts/a.test.ts > b"],
  },
  {
    name: "Go: the innermost tests, and packages without one",
    output: [
      "ok  \tassent/sidecar/ask\t0.1s",
      "--- FAIL: TestOuter (0.01s)",
      "    --- FAIL: TestOuter/inner (0.00s)",
      "        a_test.go:7: no",
      "--- FAIL: TestOther (0.00s)",
      "FAIL",
      "FAIL\tassent/sidecar/hub\t1.234s",
      "FAIL\tassent/sidecar/form [build failed]",
      "panic: test timed out after 30m0s",
      "\trunning tests:",
      "\t\tTestHangs (29m0s)",
      "FAIL\tassent/sidecar/store\t1800.1s",
      "FAIL\tassent/sidecar/exits\t0.1s",
      "FAIL",
    ],
    want: [
      "assent/sidecar/hub TestOuter/inner",
      "assent/sidecar/hub TestOther",
      "assent/sidecar/form [build failed]",
      "assent/sidecar/store TestHangs",
      "assent/sidecar/exits",
    ],
  },
  {
    name: "a story, and the conformance suite",
    output: [
      "  ok     1.2 s  a command starts a task",
      "  FAIL  91.3 s  a form is filled in",
      "ok     2025-11-25     3/3   1.0 s  initialize",
      "FAILED 2025-11-25     1/3   2.0 s  tools_call",
    ],
    want: ["a form is filled in", "tools_call"],
  },
  { name: "no test failed", output: ["FAIL", "a line about a FAIL  |x| in a text"], want: [] },
])("the failed tests are found in the output of $name", ({ output, want }) => {
  expect(failedTests(output.join("\n"))).toEqual(want);
});
