// The names in the documents: commands, settings, files and identifiers that a document mentions have to exist.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { extensionFolder, root } from "./paths.ts";

/** What exists, by its name in the documents. */
export interface KnownNames {
  /** The titles of commands with "Assent: " in front. */
  readonly commands: ReadonlySet<string>;
  /** The settings, such as `assent.limits`. */
  readonly settings: ReadonlySet<string>;
  /** The commands of the command line, such as `call`. */
  readonly shellCommands: ReadonlySet<string>;
  /** The paths of all source files, from the root. */
  readonly files: readonly string[];
  /** All words of the source files. */
  readonly words: ReadonlySet<string>;
}

/** The names in a Markdown text that do not exist. Each is as the text has it. */
export function unknownNames(text: string, known: KnownNames): readonly string[] {
  const unknown = new Set<string>();
  for (const [, title = ""] of text.matchAll(/\*\*(Assent: [^*]+)\*\*/g)) {
    const whole = title.replaceAll(/\s+/g, " ");
    if (!known.commands.has(whole)) unknown.add(whole);
  }
  for (const [, command = ""] of text.matchAll(/(?:^|`)assent ([a-z-]+)/gm)) {
    if (!known.shellCommands.has(command)) unknown.add(`assent ${command}`);
  }
  for (const [, code = ""] of text.matchAll(/`([^`\n]+)`/g)) {
    if (!isKnownCode(code, known)) unknown.add(code);
  }
  for (const [code = ""] of text.matchAll(/(?<=[\s`])-32\d{3}\b/g)) {
    if (!known.words.has(code.slice(1))) unknown.add(code);
  }
  return [...unknown];
}

function isKnownCode(code: string, known: KnownNames): boolean {
  // A setting, perhaps with the name of a member or a server behind it.
  if (/^assent(\.\w+)+$/.test(code)) {
    return [...known.settings].some(
      (setting) => code === setting || code.startsWith(`${setting}.`),
    );
  }
  // A folder or a file from the root.
  if (/^(?:protocol|sidecar|extension|webview-ui|scripts)\/[\w./-]+$/.test(code)) {
    return existsSync(join(root, code));
  }
  // A file of the source.
  if (/^[\w./-]+\.(?:go|ts|tsx)$/.test(code)) {
    return known.files.some((file) => file === code || file.endsWith(`/${code}`));
  }
  // An identifier of a Go package, such as `ask.Asks.Answer`.
  if (/^[a-z]+(\.[A-Z]\w*)+$/.test(code)) {
    return code.split(".").every((word) => known.words.has(word));
  }
  return true;
}

/** The names of this repository. */
export async function knownNames(): Promise<KnownNames> {
  const manifest = JSON.parse(await readFile(join(extensionFolder, "package.json"), "utf8"));
  const texts = JSON.parse(await readFile(join(extensionFolder, "package.nls.json"), "utf8"));
  const titles = manifest.contributes.commands.map(
    ({ title }: { title: string }) => texts[title.slice(1, -1)],
  );
  const files = (
    await Promise.all(["protocol", "sidecar", "extension", "webview-ui", "scripts"].map(sources))
  ).flat();
  const words = new Set<string>();
  const shellCommands = new Set<string>(["help", "completion"]);
  for (const file of files) {
    const text = await readFile(join(root, file), "utf8");
    for (const [word] of text.matchAll(/\w+/g)) words.add(word);
    if (!file.endsWith(".go")) continue;
    for (const [, command = ""] of text.matchAll(/\buse:\s*"([a-z-]+)/gi))
      shellCommands.add(command);
  }
  return {
    commands: new Set(titles.map((title: string) => `Assent: ${title}`)),
    settings: new Set(
      manifest.contributes.configuration.flatMap((group: { properties: object }) =>
        Object.keys(group.properties),
      ),
    ),
    shellCommands,
    files,
    words,
  };
}

async function sources(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.(?:go|ts|tsx|mjs)$/.test(basename(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !/(?:^|\/)(?:node_modules|dist)\//.test(path));
}
