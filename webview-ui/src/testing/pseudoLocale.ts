import { config } from "@vscode/l10n";
import bundle from "../../../extension/l10n/bundle.l10n.json?raw";

/** Translates every text of the bundle by adding brackets. */
export function loadPseudoLocale(): void {
  const texts: Readonly<Record<string, string | { readonly message: string }>> = JSON.parse(bundle);
  const contents = Object.entries(texts).map(([key, text]) => [
    key,
    `⟦${typeof text === "string" ? text : text.message}⟧`,
  ]);
  config({ contents: Object.fromEntries(contents) });
}

/**
 * Returns every text in data from servers, models and the sidecar, and the members' names, because JSON is shown too.
 */
export function notOurs(value: unknown): ReadonlySet<string> {
  const texts = new Set<string>();
  const collect = (part: unknown): void => {
    if (typeof part === "string") texts.add(part);
    else if (typeof part === "object" && part !== null) {
      for (const [name, member] of Object.entries(part)) {
        texts.add(name);
        collect(member);
      }
    }
  };
  collect(value);
  return texts;
}

/** Names and protocol terms, which are the same in every language, and texts of the browser. */
const names =
  /\b(Assent|MCP|URL|WebSocket|stdio|stderr|true|false|null|[AP]M|(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*)\b/g;

const attributes = [
  "aria-label",
  "aria-valuetext",
  "aria-description",
  "title",
  "placeholder",
  "alt",
];

/** Returns the visible or read-out texts of an element that are neither in brackets nor foreign. */
export function untranslated(root: Element, known: ReadonlySet<string>): readonly string[] {
  // Markdown renders without its marks, in parts.
  const marked = [...known].filter((text) => text !== plain(text)).map(plain);
  const foreign = [...known]
    .map(plain)
    .filter(isWords)
    .sort((a, b) => b.length - a.length);
  const isForeign = (text: string): boolean => {
    const left = foreign.reduce((rest, name) => rest.replaceAll(name, " "), plain(text));
    return !isWords(left.replaceAll(names, "")) || marked.some((whole) => whole.includes(text));
  };
  const read = [...root.querySelectorAll("*")].flatMap((element) => [
    ...attributes.flatMap((name) => outside(element.getAttribute(name) ?? "").left),
  ]);
  return [...new Set([...read, ...textsOf(root)])].filter((text) => !isForeign(text));
}

/** Returns the texts of an element outside of brackets. Elements may be within a sentence. */
function textsOf(root: Element): readonly string[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: string[] = [];
  let depth = 0;
  while (walker.nextNode() !== null) {
    const found = outside(walker.currentNode.textContent ?? "", depth);
    texts.push(...found.left);
    depth = found.depth;
  }
  return texts;
}

/** Returns the parts of a text outside of brackets, and the number of open brackets at its end. */
function outside(
  text: string,
  before = 0,
): { readonly left: readonly string[]; readonly depth: number } {
  let depth = before;
  const left = [""];
  for (const character of text) {
    if (character === "⟦") {
      depth++;
      left.push("");
    } else if (character === "⟧") depth--;
    else if (depth === 0) left[left.length - 1] += character;
  }
  return { left: left.map((part) => part.trim()).filter(isWords), depth };
}

function plain(text: string): string {
  return text.replaceAll(/[*_`]/g, "");
}

function isWords(text: string): boolean {
  return /\p{L}{2}/u.test(text);
}
