import { expect, test } from "vitest";
import { contentTitle } from "./subject.ts";

const words = "word ".repeat(40).trim();

test.each<[string, string, string | undefined]>([
  ["a short text", "How risky is it?", "How risky is it?"],
  ["the first line", "\n## How **risky** is it?\n\nUsers: 30", "How risky is it?"],
  [
    "a text without its emphasis",
    "Ask the *End of Everything*, _now_",
    "Ask the End of Everything, now",
  ],
  [
    "a text with its products",
    "2*3*4 of a_b_c, *.go and x * y * z",
    "2*3*4 of a_b_c, *.go and x * y * z",
  ],
  ["a long line between two words", words, `${words.slice(0, 99)}…`],
  ["a long word", "x".repeat(300), `${"x".repeat(100)}…`],
  ["nothing", " \n ", undefined],
])("the title of a content is %s", (_name, text, title) => {
  expect(contentTitle([{ type: "text", text }])).toBe(title);
});

test("the title of a content passes over a block without a text", () => {
  const blocks = [
    { type: "text", text: "" },
    { type: "image", data: "", mimeType: "image/png" },
  ] as const;
  expect(contentTitle(blocks)).toBe("(image/png)");
});
