import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Diff } from "./Diff.tsx";

function pieces(before: string, after: string) {
  const { container } = render(<Diff before={before} after={after} />);
  return [...container.querySelectorAll("del, ins, span")].map(
    ({ tagName, textContent }) => `${tagName} ${textContent}`,
  );
}

test.each([
  [
    "one word",
    "The key is 1234.",
    "The key is secret.",
    ["SPAN The key is ", "DEL 1234", "INS secret", "SPAN ."],
  ],
  ["all of it", "", "New.", ["INS New."]],
  [
    "texts with nothing but a word in common",
    "I was stopped 0 times",
    "Muse: the risk is low, I think",
    ["DEL I was stopped 0 times", "INS Muse: the risk is low, I think"],
  ],
  ["a word more", "No.", "No. Never.", ["SPAN No.", "INS  Never."]],
  ["a character that hides", "ab", "a\u{200b}b", ["DEL ab", "INS a[U+200B]b"]],
])("%s", (_, before, after, want) => {
  expect(pieces(before, after)).toEqual(want);
});

test("long texts are told as a whole", () => {
  const before = "a b ".repeat(30_000);
  expect(pieces(before, `${before}c`)).toEqual([`DEL ${before}`, `INS ${before}c`]);
});
