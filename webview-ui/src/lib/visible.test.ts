import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { visible } from "./visible.ts";

// The sidecar's package visible is held by the same cases. It writes <U+202E> where the panel writes [U+202E].
const file = join(import.meta.dirname, "../../../sidecar/base/visible/testdata/texts.json");
const texts: readonly { readonly name: string; readonly text: string; readonly want: string }[] =
  JSON.parse(readFileSync(file, "utf8"));

test.each(texts)("hidden characters are written out: $name", ({ text, want }) => {
  expect(visible(text)).toBe(want.replace(/<(U\+[0-9A-F]+)>/g, "[$1]"));
});

test("half of a pair is written out", () => {
  expect(visible("a\ud83db")).toBe("a[U+D83D]b");
});
