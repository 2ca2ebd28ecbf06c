import { expect, test } from "vitest";
import { runSteps, type Step } from "./steps.ts";

const passing = (title: string, part: Partial<Step> = {}): Step => ({
  title,
  run: async (show) => show(`${title} runs\n`),
  ...part,
});

const failing = (title: string, output: string, part: Partial<Step> = {}): Step => ({
  title,
  async run(show) {
    show(output);
    throw new Error(`${title} exits with 1\nand more`);
  },
  ...part,
});

/** Runs steps, and returns the summary without times, and what was shown. */
async function outcome(steps: Readonly<Record<string, Step>>) {
  let shown = "";
  const { ok, lines } = await runSteps(steps, (text) => {
    shown += text;
  });
  return { ok, lines: lines.map((line) => line.replace(/ +[\d.]+ s {2}/, " ")), shown };
}

test("a failed step stops those that need it, at any distance, and no other", async () => {
  const { ok, lines, shown } = await outcome({
    build: failing("Build", ""),
    lint: passing("Lint"),
    package: passing("Package", { needs: ["build"] }),
    story: passing("Story", { needs: ["lint", "package"], beside: true }),
    unit: passing("Unit", { needs: ["lint"] }),
  });
  expect(ok).toBe(false);
  expect(lines).toEqual([
    "FAILED build: Build",
    "ok lint: Lint",
    "not run            package: Package",
    "not run            story: Story",
    "ok unit: Unit",
    "FAILED build: Build exits with 1",
  ]);
  expect(shown).toBe(
    "\n=== build: Build\nBuild exits with 1\nand more\n\n=== lint: Lint\nLint runs\n\n=== unit: Unit\nUnit runs\n",
  );
});

test("a step beside others stops those that need it, and shows its output in one piece", async () => {
  let end = (): void => {};
  const late = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { lines, shown } = await outcome({
    go: {
      title: "Go",
      beside: true,
      async run(show) {
        show("--- FAIL: TestA (0.00s)\n");
        await late;
        show("FAIL\tassent/a\t0.1s\n");
        throw new Error("exit status 1");
      },
    },
    unit: passing("Unit", { run: async () => end() }),
    after: passing("After", { needs: ["go"] }),
  });
  expect(lines).toEqual([
    "FAILED go: Go",
    "ok unit: Unit",
    "not run            after: After",
    "FAILED go: assent/a TestA",
  ]);
  expect(shown).toContain(
    "\n=== go: Go\n--- FAIL: TestA (0.00s)\nFAIL\tassent/a\t0.1s\nexit status 1\n",
  );
});

test("the end names each failed test", async () => {
  const { lines } = await outcome({
    unit: failing("Unit", " FAIL  |scripts| a.test.ts > b\n FAIL  |scripts| a.test.ts > c\n"),
  });
  expect(lines).toEqual([
    "FAILED unit: Unit",
    "FAILED unit: scripts/a.test.ts > b",
    "FAILED unit: scripts/a.test.ts > c",
  ]);
});

test("a needed step that was not chosen counts as done", async () => {
  const { ok, lines } = await outcome({ story: passing("Story", { needs: ["build"] }) });
  expect({ ok, lines }).toEqual({ ok: true, lines: ["ok story: Story"] });
});
