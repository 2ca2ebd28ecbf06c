import { mkdtemp, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkSize, runVsce, sizeLimit } from "./vsix.ts";

/** The files of an extension that vsce has nothing against. */
const clean: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({
    name: "tested",
    publisher: "assent",
    version: "0.0.1",
    license: "MIT",
    engines: { vscode: "^1.138.0" },
    contributes: {},
  }),
  "README.md": "# Tested",
  LICENSE: "MIT",
  ".vscodeignore": "*.vsix",
};

async function packaged(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "assent-vsix-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const vsix = join(folder, "tested.vsix");
  await runVsce(folder, "linux-x64", vsix);
  return vsix;
}

describe("a package", () => {
  test("is made of what vsce has nothing against", async () => {
    expect((await stat(await packaged(clean))).size).toBeGreaterThan(0);
  });

  test("is not made where vsce warns", async () => {
    const { LICENSE: _, ...without } = clean;
    await expect(packaged(without)).rejects.toThrow(/vsce warns:\n.*LICENSE/s);
  });

  test("has at most so many bytes, and the message says how many", async () => {
    const folder = await mkdtemp(join(tmpdir(), "assent-vsix-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "tested.vsix");
    await writeFile(file, "");
    await truncate(file, sizeLimit);
    await expect(checkSize(file)).resolves.toBeUndefined();
    await truncate(file, sizeLimit + 1);
    await expect(checkSize(file)).rejects.toThrow(`tested.vsix has ${sizeLimit + 1} bytes`);
  });
});
