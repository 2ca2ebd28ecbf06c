import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { output } from "./command.ts";
import { root } from "./paths.ts";

test("no test has a limit of its own for a wait: vitest.limits.ts has it", async () => {
  const listed = await output("git", [
    "ls-files",
    "-co",
    "--exclude-standard",
    "*.test.ts",
    "*.test.tsx",
  ]);
  const found: string[] = [];
  for (const name of listed.trim().split("\n")) {
    const text = await readFile(join(root, name), "utf8");
    // vi.waitFor waits for one second, whatever the configuration says.
    const [own] = /\bvi\.wait(For|Until)\(|[{,] *timeout: [\d_]+/.exec(text) ?? [];
    if (own !== undefined && name !== "scripts/tools/lib/waits.test.ts")
      found.push(`${name}: ${own}`);
  }
  expect(found).toEqual([]);
});
