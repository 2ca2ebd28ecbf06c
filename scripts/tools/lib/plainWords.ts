import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./paths.ts";

/** A construction that makes a reader stop, and what to write instead. */
interface Construction {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** The constructions. Some are right now and then, so comments may have a few. */
const constructions: readonly Construction[] = [
  {
    pattern: /\b(who|whom|what|which|where)ever\b/gi,
    instead: "name who or what it is: a caller, another process, every server",
  },
  {
    pattern: /\b(some|no|any)body\b/gi,
    instead: "name who it is: no goroutine, another window, the person",
  },
  { pattern: /\bwhose\b/gi, instead: "a server with a login, not a server whose login is kept" },
  { pattern: /\blest\b/gi, instead: "so that … not" },
  { pattern: /\banew\b/gi, instead: "again" },
  { pattern: /\b(thereby|whereof)\b/gi, instead: "a sentence of its own" },
  { pattern: /\bmeanwhile\b/gi, instead: "during the call, until then, since then" },
  {
    pattern: /\bto be (asked|copied|found|given|had|kept|read|repeated|said|seen|shown|told)\b/gi,
    instead: "say who does it: the caller passes it",
  },
  {
    pattern:
      /\bwhere (it|none|nothing|one|that|there|they) (are|did|do|does|had|has|have|is|was|were)\b/gi,
    instead: "if, or unless",
  },
  { pattern: /\b(are|is|was|were) of (no|none|one|use)\b/gi, instead: "a verb: helps, belongs to" },
  {
    pattern: /\bwhat (another|came|comes|goes|had|has|is|it|nothing|they|was|went)\b/gi,
    instead: "the noun: the result, the request, the text",
  },
  {
    pattern:
      /\b(had|has|have) (her|him|it|that|them|this) (asked|done|kept|read|said|shown|told)\b/gi,
    instead: "say who does it",
  },
  { pattern: /\bmend(s|ed|ing)?\b/gi, instead: "fix, or repair" },
  { pattern: /\bbut for\b/gi, instead: "except" },
];

/** A line of prose, and the constructions in it with what to write instead. */
export interface Marked {
  readonly place: string;
  readonly text: string;
  readonly instead: readonly string[];
}

/** What a measurement found. */
export interface Measured {
  readonly lines: number;
  readonly marked: readonly Marked[];
}

/** Measures lines of prose, each with its place. */
export function measure(prose: readonly (readonly [place: string, text: string])[]): Measured {
  const marked = prose.flatMap(([place, text]) => {
    const instead = constructions.flatMap((c) =>
      (text.match(c.pattern) ?? []).map(() => c.instead),
    );
    return instead.length === 0 ? [] : [{ place, text: text.trim(), instead }];
  });
  return { lines: prose.length, marked };
}

/** How many constructions there are for 1,000 lines. */
export function rate({ lines, marked }: Measured): number {
  const count = marked.reduce((sum, line) => sum + line.instead.length, 0);
  return (count * 1000) / Math.max(lines, 1);
}

/** The source files below some folders, without generated, installed and built files. */
async function sources(folders: readonly string[], name: RegExp): Promise<readonly string[]> {
  const skipped =
    /(^|[\\/])(node_modules|dist|out|testdata)[\\/]|_gen\.go$|protocol[\\/]protocol\.ts$/;
  const below = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true })).map((file) => join(folder, file)),
    ),
  );
  return below.flat().filter((file) => name.test(file) && !skipped.test(file));
}

/** The comments of a language, a line each. */
export async function comments(
  folders: readonly string[],
  name: RegExp,
  comment: RegExp,
): Promise<readonly (readonly [string, string])[]> {
  const files = await sources(folders, name);
  const prose = await Promise.all(
    files.map(async (file) =>
      (await readFile(join(root, file), "utf8")).split("\n").flatMap((line, i) => {
        const text = comment.exec(line)?.[1]?.trim();
        return text === undefined || text === "" ? [] : [[`${file}:${i + 1}`, text] as const];
      }),
    ),
  );
  return prose.flat();
}

/** The texts of Go programs: string literals of at least two words, in which errors, logs and help are written. */
export async function goTexts(
  folders: readonly string[],
): Promise<readonly (readonly [string, string])[]> {
  const files = (await sources(folders, /\.go$/)).filter((file) => !file.endsWith("_test.go"));
  const prose = await Promise.all(
    files.map(async (file) => {
      const code = (await readFile(join(root, file), "utf8"))
        .split("\n")
        .map((line) => line.replace(/(^|\s)\/\/.*$/, ""))
        .join("\n");
      return [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`([^`]*)`/g)]
        .map((literal) => literal[1] ?? literal[2] ?? "")
        .filter((text) => text.includes(" "))
        .map((text) => [file, text] as const);
    }),
  );
  return prose.flat();
}

/** The texts of JSON files: l10n bundles and the manifest's texts. */
export async function jsonTexts(
  files: readonly string[],
): Promise<readonly (readonly [string, string])[]> {
  const strings = (value: unknown): readonly string[] =>
    typeof value === "string"
      ? [value]
      : typeof value === "object" && value !== null
        ? Object.values(value).flatMap(strings)
        : [];
  const prose = await Promise.all(
    files.map(async (file) =>
      strings(JSON.parse(await readFile(join(root, file), "utf8"))).map(
        (text) => [file, text] as const,
      ),
    ),
  );
  return prose.flat();
}
