// The Markdown documents: their links and headings.
import { readFile } from "node:fs/promises";
import { posix } from "node:path";

/** A link of a document, such as `docs/guide.md#settings`, to something in the same tree. */
export interface DocumentLink {
  /** The path from the root of the tree, in which nothing climbs; the document's own for `#settings`. */
  readonly path: string;
  /** The name of a heading, without its `#`. */
  readonly heading?: string;
}

/** The relative links and the pictures of a Markdown text, which is at a path. Code has none. */
export function linksIn(text: string, path: string): readonly DocumentLink[] {
  const prose = withoutFences(text).replaceAll(/`[^`\n]*`/g, "");
  const targets = [
    ...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g),
    ...prose.matchAll(/\b(?:src|href|srcset)="([^"]+)"/g),
  ].map(([, target = ""]) => target);
  return targets
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))
    .map((target) => {
      const [file = "", heading] = target.split("#");
      const linked = file === "" ? path : posix.join(posix.dirname(path), decodeURI(file));
      return heading === undefined ? { path: linked } : { path: linked, heading };
    });
}

/** The names by which links reach the headings of a Markdown text, as GitHub and VS Code make them. */
export function headingsIn(text: string): readonly string[] {
  const heads = withoutFences(text).matchAll(/^#{1,6} +(.+?) *$/gm);
  return [...heads].map(([, head = ""]) =>
    head
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(/\s/g, "-"),
  );
}

/** Every file that a reader reaches from a document by relative links, the document itself first. */
export async function reachableFrom(
  path: string,
  read: (path: string) => Promise<string>,
): Promise<readonly string[]> {
  const reached = new Set([path]);
  for (const next of reached) {
    if (!next.endsWith(".md")) continue;
    for (const link of linksIn(await read(next), next)) reached.add(link.path);
  }
  return [...reached];
}

/** The links of documents that lead nowhere, each as `DOCUMENT: PATH#HEADING`. */
export async function brokenLinks(
  documents: readonly string[],
  read: (path: string) => Promise<string>,
): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const document of documents) {
    for (const { path, heading } of linksIn(await read(document), document)) {
      const found = await read(path).catch(() => undefined);
      const isThere =
        found !== undefined && (heading === undefined || headingsIn(found).includes(heading));
      if (!isThere)
        broken.push(`${document}: ${path}${heading === undefined ? "" : `#${heading}`}`);
    }
  }
  return broken;
}

/** The lines of prose above 120 columns, each as `DOCUMENT:LINE`. A line without a place to break it may be longer. */
export function wideLines(text: string, path: string): readonly string[] {
  const isWide = (line: string): boolean =>
    line.length > 120 && !/^\s*[|<]/.test(line) && /\s/.test(line.trim().slice(0, 120));
  // A fence keeps its lines, so that the numbers stay right.
  const prose = text.replaceAll(fences, (fence) => fence.replaceAll(/[^\n]/g, ""));
  return prose.split("\n").flatMap((line, i) => (isWide(line) ? [`${path}:${i + 1}`] : []));
}

/** Reads the files of a folder by their paths from there. */
export function filesOf(folder: string): (path: string) => Promise<string> {
  return (path) => readFile(posix.join(folder, path), "utf8");
}

/**
 * The README for VS Code's page of the extension, which shows no file of the package. A sentence says where the pictures
 * are, and links to other documents are plain text.
 */
export function readmeOfPackage(text: string): string {
  return text
    .replaceAll(/^<img src="(?!\w+:)[^>]*>$/gm, inTheGuide)
    .replaceAll(/\[([^\]]*)\]\((?!\w+:|#)[^)]*\)/g, "$1");
}

const inTheGuide = "The command **Assent: Get Started…** shows this with pictures.";

function withoutFences(text: string): string {
  return text.replaceAll(fences, "");
}

const fences = /^(```+|~~~+)[^\n]*\n[\s\S]*?^\1\s*$/gm;
