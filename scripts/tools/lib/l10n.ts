// The translatable texts of the extension and the panel. Those of the manifest are written by hand in package.nls.json.
// Those of the code are collected here: they are the keys of the translations. VS Code loads one bundle for an
// extension, so the panel's texts are in it too.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { extname, join, relative } from "node:path";
import { getL10nJson, type l10nJsonFormat } from "@vscode/l10n-dev";
import { extensionFolder, root } from "./paths.ts";

const bundle = join(extensionFolder, "l10n", "bundle.l10n.json");

/** The folders with texts. The panel's test helpers have a folder of their own. */
const sources = [
  join(extensionFolder, "src"),
  join(root, "webview-ui", "src"),
  join(root, "protocol"),
];
const isSource = (name: string): boolean => /(?<!\.test|\.d)\.tsx?$/.test(name);

/** Writes every text of the code into the bundle. */
export async function writeTexts(): Promise<void> {
  await writeFile(bundle, await collectTexts());
}

/** Fails if the bundle is out of date. */
export async function checkTexts(): Promise<void> {
  if ((await readFile(bundle, "utf8")) === (await collectTexts())) return;
  throw new Error(`${relative(root, bundle)} is out of date: npm run format writes it`);
}

async function collectTexts(): Promise<string> {
  const files = (await Promise.all(sources.map(readSources))).flat();
  const texts: l10nJsonFormat = await getL10nJson(files);
  const sorted = Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`;
}

async function readSources(folder: string) {
  const names = (await readdir(folder, { recursive: true })).filter(isSource).sort();
  const files = names.map(async (name) => ({
    extension: extname(name),
    contents: await readFile(join(folder, name), "utf8"),
  }));
  return Promise.all(files);
}
