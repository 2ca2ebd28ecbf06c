import type { FindImportsResult, ImportName, ImportServer, ImportSource } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { oneLine, previewText } from "./previewText.ts";

/** A line of the list: a heading or a server. */
export type ImportLine =
  | { readonly kind: "heading"; readonly label: string }
  | ({ readonly kind: "server" } & ImportChoice);

/** A server that another program has configured. */
export interface ImportChoice extends ImportName {
  readonly program: string;
  readonly server: ImportServer;
}

/** Returns the servers that are not configured yet, grouped by file. */
export function importLines(
  { sources = [] }: FindImportsResult,
  home: string,
): readonly ImportLine[] {
  const lines = sources.flatMap(({ program, path, servers = [] }): readonly ImportLine[] => {
    const fresh = servers.filter(({ known }) => known !== true);
    if (fresh.length === 0) return [];
    return [
      { kind: "heading", label: `${program}: ${oneLine(inHome(path, home))}` },
      ...fresh.map((server) => ({
        kind: "server" as const,
        ...{ program, path, name: server.name, server },
      })),
    ];
  });
  return lines;
}

/** Returns the list's question, with the names of the servers that cannot be chosen. */
export function importQuestion({ sources = [] }: FindImportsResult): string {
  const question = l10n.t("Which servers should be copied?");
  const known = sources.flatMap(({ servers = [] }) =>
    servers.flatMap(({ name, known }) => (known === true ? [name] : [])),
  );
  if (known.length === 0) return question;
  const names = oneLine([...new Set(known)].join(", "));
  return `${question} ${l10n.t("Already configured: {0}", names)}`;
}

/** Says whether there is a server that is not configured already. */
export function hasNews({ sources = [] }: FindImportsResult): boolean {
  return sources.some(({ servers = [] }) => servers.some(({ known }) => known !== true));
}

/** Says why there is nothing to choose. */
export function nothingToImport({ sources = [] }: FindImportsResult): string {
  return sources.some(({ servers = [] }) => servers.length > 0)
    ? l10n.t("Every MCP server that other programs use on this machine is already configured.")
    : l10n.t("Assent found no MCP servers of other programs on this machine.");
}

/** Returns a sentence for each file that could not be read. */
export function importProblems({ sources = [] }: FindImportsResult): readonly string[] {
  return sources.flatMap(({ program, path, problem = "" }: ImportSource) =>
    problem === "" ? [] : [`${program}: ${path}: ${problem}`],
  );
}

/** Returns what stays chosen after a change: of two servers with one name, the one chosen last. */
export function importable<T extends ImportChoice>(before: readonly T[], now: readonly T[]): T[] {
  const added = now.filter((choice) => !before.includes(choice));
  const latest = new Map([...now, ...added].map((choice) => [choice.name, choice]));
  return now.filter((choice) => latest.get(choice.name) === choice);
}

/** Returns the command line of a server, or its URL, on one line. */
export function commandOf({ entry }: ImportServer): string {
  if (typeof entry !== "object" || entry === null) return "";
  const { url, command, args }: { url?: unknown; command?: unknown; args?: unknown } = entry;
  if (typeof url === "string") return oneLine(url);
  const words = [command, ...(Array.isArray(args) ? args : [])];
  return oneLine(words.filter((word) => typeof word === "string").join(" "));
}

/**
 * Returns the second line of a server in the list: what the person should know about the copy. VS Code cuts the line
 * off, so it has only the main clause of the first warning. The preview shows every warning in full.
 */
export function detailOf({ server: { warnings = [] } }: ImportChoice): string | undefined {
  const [first, ...others] = warnings;
  if (first === undefined) return undefined;
  const [clause = ""] = oneLine(first).split(/[:;] /);
  return others.length === 0
    ? `⚠ ${clause}`
    : l10n.t("⚠ {0} (and {1} more)", clause, others.length);
}

/** Shortens a path in the home folder to `~`. */
function inHome(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Returns the document that shows what will be written. */
export function previewOf(choices: readonly ImportChoice[], file: string): string {
  return previewText({
    target: file,
    warnings: choices.flatMap(({ name, program, server }) =>
      (server.warnings ?? []).map((warning) => l10n.t("{0}, of {1}: {2}", name, program, warning)),
    ),
    content: {
      servers: Object.fromEntries(choices.map(({ name, server }) => [name, server.entry])),
    },
  });
}
