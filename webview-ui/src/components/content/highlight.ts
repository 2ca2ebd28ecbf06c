import type { ElementContent } from "hast";
import type { LanguageFn } from "highlight.js";
import { createLowlight } from "lowlight";

/** A piece of code: its text, and its class. */
export interface Piece {
  readonly text: string;
  readonly kind?: string;
}

type Load = () => Promise<{ readonly default: LanguageFn }>;

/** The languages, each in a file that is loaded when it is first needed. */
const languages: Readonly<Record<string, Load>> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  go: () => import("highlight.js/lib/languages/go"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  php: () => import("highlight.js/lib/languages/php"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

const aliases: Readonly<Record<string, string>> = {
  "c++": "cpp",
  cs: "csharp",
  golang: "go",
  html: "xml",
  js: "javascript",
  jsonc: "json",
  jsx: "javascript",
  kt: "kotlin",
  mjs: "javascript",
  patch: "diff",
  py: "python",
  rb: "ruby",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  svg: "xml",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  yml: "yaml",
  zsh: "bash",
};

const lowlight = createLowlight();

/** Returns the pieces of a code, which together are all of it; undefined if its language is not known. */
export async function highlight(
  code: string,
  language: string,
): Promise<readonly Piece[] | undefined> {
  const asked = language.toLowerCase();
  const name = Object.hasOwn(aliases, asked) ? (aliases[asked] ?? asked) : asked;
  const load = Object.hasOwn(languages, name) ? languages[name] : undefined;
  if (load === undefined) return undefined;
  if (!lowlight.registered(name)) lowlight.register(name, (await load()).default);
  return piecesOf(lowlight.highlight(name, code).children as readonly ElementContent[], undefined);
}

function piecesOf(nodes: readonly ElementContent[], kind: string | undefined): readonly Piece[] {
  return nodes.flatMap((node): readonly Piece[] => {
    if (node.type === "text")
      return [kind === undefined ? { text: node.value } : { text: node.value, kind }];
    if (node.type !== "element") return [];
    const names = node.properties["className"];
    return piecesOf(node.children, Array.isArray(names) ? names.join(" ") : kind);
  });
}
