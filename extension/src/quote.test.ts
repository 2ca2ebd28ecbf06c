import { describe, expect, test } from "vitest";
import { mentionOf, quoteOf } from "./quote.ts";

describe("a quote", () => {
  const selection = { path: "src/a.ts", language: "typescript", text: "a\nb\n", from: 3, to: 4 };

  test("names its source, and leaves room to write", () => {
    expect(quoteOf(selection)).toBe("`src/a.ts`, lines 3 to 4:\n\n```typescript\na\nb\n```\n\n");
    expect(quoteOf({ ...selection, to: 3 })).toMatch(/^`src\/a\.ts`, line 3:/);
  });

  test("is not ended by quoted text or a file name", () => {
    const quoted = quoteOf({ ...selection, path: "a`b", text: "````\ncode\n````" });
    expect(quoted).toBe("`` a`b ``, lines 3 to 4:\n\n`````typescript\n````\ncode\n````\n`````\n\n");
  });

  test("is bounded, and says so", () => {
    const quoted = quoteOf({ ...selection, text: "x".repeat(60_000) });
    expect(quoted.length).toBeLessThan(50_200);
    expect(quoted).toContain("[cut here: 50000 of 60000 characters]");
  });
});

test("files are named, and the many that are not are counted", () => {
  expect(mentionOf(["a.ts", "b c.ts"])).toBe("About `a.ts`, `b c.ts`:\n\n");
  expect(mentionOf(Array.from({ length: 53 }, (_, i) => `${i}`))).toMatch(/`49` and 3 more:\n\n$/);
});
