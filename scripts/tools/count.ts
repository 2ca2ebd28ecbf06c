// npm run count: how many lines of code there are, without blank lines, comments and generated files.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { output } from "./lib/command.ts";
import { root } from "./lib/paths.ts";

const counts = { product: 0, tests: 0, scripts: 0 };
for (const path of (await output("git", ["ls-files"])).trim().split("\n")) {
  if (!/\.(go|tsx?|mjs|js|css)$/.test(path)) continue;
  const text = readFileSync(join(root, path), "utf8");
  if (!/DO NOT EDIT/.test(text.slice(0, 200))) counts[kind(path)] += codeLines(text);
}
for (const [what, lines] of Object.entries(counts)) {
  console.log(what.padEnd(8), lines.toLocaleString("en").padStart(8));
}

/** Test servers and stories count as scripts, and what only tests import counts as tests. */
function kind(path: string): keyof typeof counts {
  if (/(_test\.go|\.test\.tsx?)$|\/(testing|testdata|test)\//.test(path)) return "tests";
  return path.startsWith("scripts/") ? "scripts" : "product";
}

/** Comments stand on lines of their own, nearly always. */
function codeLines(text: string): number {
  const lines = text.replaceAll(/^\s*\/\*.*?\*\//gms, "").split("\n");
  return lines.filter((line) => !/^\s*(\/\/|$)/.test(line)).length;
}
