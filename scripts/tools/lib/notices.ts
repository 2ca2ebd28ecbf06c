// The notices of the third-party works in a package: those bundled by esbuild, linked by Go for that platform, or
// copied. An unreviewed licence stops the build.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Bundle, type Platform, readBundledFiles } from "./build.ts";
import { output } from "./command.ts";
import { root } from "./paths.ts";

/** A third-party work, with its notices. */
export interface Work {
  /** Its name and version, such as "react 19.3.1". */
  readonly name: string;
  /** Where it comes from: a package of npm, a module of Go, Go itself, or parts in our own sources. */
  readonly kind: "npm" | "go" | "toolchain" | "copied";
  /** Which licences it is under, as SPDX names them. */
  readonly licences: readonly string[];
  readonly texts: readonly string[];
}

/** Those under which a work may be in a package that is under MIT's; none asks for more than its notice. */
const allowed: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC-BY-4.0",
  "ISC",
  "MIT",
  "Unlicense",
  "blessing",
]);

/** Phrases that identify licences. The first match counts. */
const phrases: readonly (readonly [licence: string, phrase: RegExp])[] = [
  // These are known only to be refused.
  ["GPL, LGPL or AGPL", /GNU (Affero |Lesser |Library )?General Public License/i],
  ["MPL", /Mozilla Public License/i],
  ["SSPL", /Server Side Public License/i],
  ["Apache-2.0", /Apache License,? Version 2\.0/i],
  ["MIT", /Permission is hereby granted, free of charge, to any person/i],
  ["BSD-3-Clause", /Redistribution and use in source and binary forms.*Neither the name/is],
  ["BSD-2-Clause", /Redistribution and use in source and binary forms/i],
  [
    "ISC",
    /Permission to use, copy, modify,? and(?:\/or)? distribute this software for any purpose/i,
  ],
  ["CC-BY-4.0", /Attribution 4\.0 International/i],
  ["blessing", /May you do good and not evil/i],
  ["Unlicense", /This is free and unencumbered software/i],
];

const licenceFile = /^(licen[cs]e|copying|notice|patents|authors)\b.*$/i;

/** The works in a package for a platform, by name; only those of some bundles if these are given. */
export async function worksIn(
  platform: Platform,
  bundles?: readonly Bundle[],
): Promise<readonly Work[]> {
  const works = [
    ...(await npmWorks(bundles)),
    ...(await goWorks(platform)),
    ...(await copiedWorks()),
  ];
  for (const work of works) check(work);
  return works.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The document for the package. A text that several works have is in it once. */
export function noticesText(works: readonly Omit<Work, "kind">[]): string {
  const namesByText = new Map<string, string[]>();
  for (const { name, texts } of works) {
    for (const text of texts) {
      const names = namesByText.get(text) ?? [];
      if (!names.includes(name)) names.push(name);
      namesByText.set(text, names);
    }
  }
  const list = works.map(({ name, licences }) => `${name}: ${licences.join(" AND ")}`);
  const line = "-".repeat(80);
  const notices = [...namesByText].map(
    ([text, names]) => `${line}\n${names.join("\n")}\n\n${text}`,
  );
  return `${[
    "Assent contains works of others, under the licences that follow.",
    list.join("\n"),
    ...notices,
  ].join("\n\n")}\n`;
}

/** Fails if a work has a licence that is not allowed, or no licence text. */
export function check({ name, licences, texts }: Pick<Work, "name" | "licences" | "texts">): void {
  const strange = licences.filter((licence) => !allowed.has(licence));
  if (licences.length > 0 && strange.length === 0 && texts.length > 0) return;
  const what = licences.length === 0 ? "none that is known" : licences.join(" AND ");
  throw new Error(
    `${name} is under ${what}, with ${texts.length} texts of it: scripts/tools/lib/notices.ts says what may be packaged`,
  );
}

/** Identifies the licence of a text; undefined if it is unknown. */
export function licenceOf(text: string): string | undefined {
  const line = text.replace(/\s+/g, " ");
  return phrases.find(([, phrase]) => phrase.test(line))?.[0];
}

/** The npm packages that the bundles have files of. */
async function npmWorks(bundles?: readonly Bundle[]): Promise<readonly Work[]> {
  const folders = new Set<string>();
  for (const file of await readBundledFiles(bundles)) {
    const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
    if (folder !== undefined) folders.add(folder);
  }
  return await Promise.all(
    [...folders].map(async (folder): Promise<Work> => {
      const manifest = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8")) as {
        readonly name: string;
        readonly version: string;
        readonly license?: string;
        readonly author?: string | { readonly name?: string };
      };
      const { name, version, license = "", author } = manifest;
      const texts = await textsIn(join(root, folder));
      const by = typeof author === "string" ? author : author?.name;
      // A few leave the text out, and name their licence in the manifest alone.
      const text = `${license}${by === undefined ? "" : `, by ${by}`}`;
      return {
        name: `${name} ${version}`,
        kind: "npm",
        licences: license === "" ? known(texts) : licencesOf(license),
        texts: texts.length === 0 && license !== "" ? [text] : texts,
      };
    }),
  );
}

/** "(MIT OR CC0-1.0)" as the one that is chosen, "A AND B" as both. */
export function licencesOf(expression: string): readonly string[] {
  return expression
    .replace(/[()]/g, "")
    .split(" AND ")
    .map((each) => {
      const options = each.split(" OR ").map((option) => option.trim());
      return options.find((option) => allowed.has(option)) ?? options[0] ?? "";
    })
    .filter((each) => each !== "");
}

/** The modules that Go links into the sidecar, and Go itself. */
async function goWorks({ os, arch }: Platform): Promise<readonly Work[]> {
  const format = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}";
  const env = { CGO_ENABLED: "0", GOOS: os, GOARCH: arch };
  const [listed, goRoot, goVersion] = await Promise.all([
    output("go", ["list", "-deps", "-f", format, "./sidecar/cmd/assent"], { env }),
    output("go", ["env", "GOROOT"]),
    output("go", ["env", "GOVERSION"]),
  ]);
  const modules = [...new Set(listed.split("\n"))].filter((line) => line !== "");
  return await Promise.all([
    readWork(`Go ${goVersion.trim()}`, "toolchain", goRoot.trim()),
    ...modules.map((line) => {
      const [path = "", version = "", folder = ""] = line.split("\t");
      return readWork(`${path} ${version}`, "go", folder);
    }),
  ]);
}

/** The works that were copied into a folder of the repository, which then has their licences as LICENSE.NAME. */
async function copiedWorks(): Promise<readonly Work[]> {
  const works: Work[] = [];
  for (const folder of ["sidecar", "webview-ui/src", "extension/src"]) {
    for (const file of await readdir(join(root, folder), { recursive: true })) {
      const name = /(?:^|[\\/])LICENSE\.([\w-]+)$/.exec(file)?.[1];
      if (name === undefined) continue;
      const text = await readText(join(root, folder, file));
      works.push({
        name: `${name} (parts)`,
        kind: "copied",
        licences: known([text]),
        texts: [text],
      });
    }
  }
  return works;
}

async function readWork(name: string, kind: Work["kind"], folder: string): Promise<Work> {
  const texts = await textsIn(folder);
  return { name, kind, licences: known(texts), texts };
}

function known(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => licenceOf(text) ?? []))].sort();
}

async function textsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && licenceFile.test(entry.name));
  const texts = names.map(({ name }) => readText(join(folder, name)));
  return await Promise.all(texts);
}

async function readText(file: string): Promise<string> {
  return (await readFile(file, "utf8")).replaceAll("\r\n", "\n").trim();
}
