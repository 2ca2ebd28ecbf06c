import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { inMemory } from "./memory.ts";

test("the folder in memory is gone afterwards, even if the tests fail", async () => {
  let folder: string | undefined;
  const tests = inMemory(import.meta.url, async ({ TMPDIR }) => {
    folder = TMPDIR;
    expect(folder === undefined || existsSync(folder)).toBe(true);
    throw new Error("a test failed");
  });
  await expect(tests).rejects.toThrow("a test failed");
  expect(folder !== undefined && existsSync(folder)).toBe(false);
});
