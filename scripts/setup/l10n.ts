// The texts of the extension that can be translated. Those of the manifest are in package.nls.json, where
// people write them; those of the code are collected here, for translators and as the keys of translations.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { getL10nJson, type l10nJsonFormat } from "@vscode/l10n-dev";
import { extensionFolder, root } from "./paths.ts";

const bundle = join(extensionFolder, "l10n", "bundle.l10n.json");

/** Writes every text of the extension's code into the bundle. */
export async function writeTexts(): Promise<void> {
  await writeFile(bundle, await collectTexts());
}

/** Fails where the bundle is not what the code says. */
export async function checkTexts(): Promise<void> {
  if ((await readFile(bundle, "utf8")) === (await collectTexts())) return;
  throw new Error(`${relative(root, bundle)} is out of date: npm run format writes it`);
}

async function collectTexts(): Promise<string> {
  const sources = join(extensionFolder, "src");
  const names = (await readdir(sources, { recursive: true }))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .sort();
  const files = names.map(async (name) => ({
    extension: ".ts",
    contents: await readFile(join(sources, name), "utf8"),
  }));
  const texts: l10nJsonFormat = await getL10nJson(await Promise.all(files));
  const sorted = Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`;
}
