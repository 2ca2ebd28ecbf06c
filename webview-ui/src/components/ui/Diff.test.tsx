import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Diff } from "./Diff.tsx";

function pieces(before: string, after: string) {
  const { container } = render(<Diff before={before} after={after} keep="diff" />);
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

const lines = (word: string) => Array.from({ length: 40 }, (_, n) => `${word} ${n}`).join("\n");

test("shows only text near a change, and never hides a change behind a button", () => {
  const before = `${lines("above")}\nThe key is 1234, I think.\n${lines("below")}`;
  const { container } = render(
    <Diff before={before} after={before.replace("1234", "secret")} keep="diff" />,
  );
  expect(container.textContent).toBe(" ⋯ above 39\nThe key is 1234secret, I think.\nbelow 0 ⋯ ");
});

test("counts rewritten text once", () => {
  const { container } = render(<Diff before={lines("a")} after={lines("b")} keep="diff" />);
  const count = lines("b").length.toLocaleString();
  expect(container.querySelector("button")?.textContent).toBe(`Show all (${count} characters)`);
});

test("between two changes, both ends of what did not change are shown", () => {
  const shown = pieces(`one\n${lines("same")}\ntwo`, `1\n${lines("same")}\n2`);
  expect(shown).toEqual([
    "DEL one",
    "INS 1",
    "SPAN \nsame 0",
    "SPAN  ⋯ ",
    "SPAN same 39\n",
    "DEL two",
    "INS 2",
  ]);
});

test("long texts are told as a whole", () => {
  const before = "a b ".repeat(30_000);
  expect(pieces(before, `${before}c`)).toEqual([`DEL ${before}`, `INS ${before}c`]);
});
