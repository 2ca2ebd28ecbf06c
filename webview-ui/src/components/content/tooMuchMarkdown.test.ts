import { expect, test } from "vitest";
import { tooMuchMarkdown } from "./tooMuchMarkdown.ts";

// Each of these took the panel seconds, or all of its stack.
test.each([
  ["quotes in quotes", ">".repeat(1_000)],
  ["quotes in quotes, with spaces", "> ".repeat(1_000)],
  ["lists in lists", "1. ".repeat(1_000)],
  ["quotes and lists in turn", `${"> - ".repeat(12)} a`],
  ["lists that go in", Array.from({ length: 300 }, (_, i) => `${" ".repeat(i)}- a`).join("\n")],
  ["a table to be filled up", `|${"a|".repeat(99)}\n|${"-|".repeat(99)}\n${"|\n".repeat(99)}`],
  ["stars around stars", `${"*".repeat(1_000)}a${"*".repeat(1_000)}`],
  ["stars and lines around each other", `${"*_".repeat(1_000)}a${"_*".repeat(1_000)}`],
  ["brackets around brackets", `${"[".repeat(3_000)}a${"](x)".repeat(3_000)}`],
  ["thousands of paragraphs", "a\n\n".repeat(3_000)],
  ["a long text", "word ".repeat(20_001)],
])("%s are not read as Markdown", (_, text) => {
  expect(tooMuchMarkdown(text)).toBe(true);
});

test.each([
  ["a long letter", `${"Words of *some* weight, in `rows`.\n".repeat(400)}`],
  ["a table", `| a | b | c | d |\n|---|---|---|---|\n${"| 1 | 2 | 3 | 4 |\n".repeat(200)}`],
  ["a line across", `a\n\n${"- ".repeat(40)}\n\n${"*".repeat(80)}\n\n${"_".repeat(80)}`],
  ["lists in a quote", "> 1. a\n>    - b\n>      - c"],
  ["code", "```ts\n                    const deep = a || b;\n```"],
  ["nothing", ""],
])("%s is", (_, text) => {
  expect(tooMuchMarkdown(text)).toBe(false);
});
