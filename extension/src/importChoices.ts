import type { FindImportsResult, ImportName, ImportServer, ImportSource } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { oneLine, previewText } from "./previewText.ts";

/** A line of the list to choose from: a heading, or a server. */
export type ImportLine =
  | { readonly kind: "heading"; readonly label: string }
  | ({ readonly kind: "server" } & ImportChoice);

/** A server that another program has configured. */
export interface ImportChoice extends ImportName {
  readonly program: string;
  readonly server: ImportServer;
}

/** What is listed: the servers by file, each file below the name of its program. */
export function importLines({ sources = [] }: FindImportsResult): readonly ImportLine[] {
  return sources.flatMap(({ program, path, servers = [] }): readonly ImportLine[] => [
    ...(servers.length === 0 ? [] : [{ kind: "heading" as const, label: program }]),
    ...servers.map((server) => ({
      kind: "server" as const,
      ...{ program, path, name: server.name, server },
    })),
  ]);
}

/** Says whether there is a server that is not configured already. */
export function hasNews({ sources = [] }: FindImportsResult): boolean {
  return sources.some(({ servers = [] }) => servers.some(({ known }) => known !== true));
}

/** Why there is nothing to choose from, for the person. */
export function nothingToImport({ sources = [] }: FindImportsResult): string {
  return sources.some(({ servers = [] }) => servers.length > 0)
    ? l10n.t("Every MCP server that other programs have configured here is configured already.")
    : l10n.t(
        "No other program on this machine has MCP servers configured where Assent looks for them.",
      );
}

/** The files that could not be read, a sentence each. */
export function importProblems({ sources = [] }: FindImportsResult): readonly string[] {
  return sources.flatMap(({ program, path, problem = "" }: ImportSource) =>
    problem === "" ? [] : [`${program}: ${path}: ${problem}`],
  );
}

/**
 * What stays chosen when the choice becomes another. What is configured already cannot be imported, and
 * of two servers of one name only one can: the one that was chosen last.
 */
export function importable<T extends ImportChoice>(before: readonly T[], now: readonly T[]): T[] {
  const fresh = now.filter(({ server }) => server.known !== true);
  const added = fresh.filter((choice) => !before.includes(choice));
  const latest = new Map([...fresh, ...added].map((choice) => [choice.name, choice]));
  return fresh.filter((choice) => latest.get(choice.name) === choice);
}

/** The command line of a server, or its URL, on one line. */
export function commandOf({ entry }: ImportServer): string {
  if (typeof entry !== "object" || entry === null) return "";
  const { url, command, args }: { url?: unknown; command?: unknown; args?: unknown } = entry;
  if (typeof url === "string") return oneLine(url);
  const words = [command, ...(Array.isArray(args) ? args : [])];
  return oneLine(words.filter((word) => typeof word === "string").join(" "));
}

/** The second line of a server in the list: its file, and what the person should know of the copy. */
export function detailOf({ path, server }: ImportChoice, home: string): string {
  const file = path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
  const warnings = (server.warnings ?? []).map((warning) => ` ⚠ ${warning}`);
  return oneLine(`${file}${warnings.join("")}`);
}

/** The document that shows what will be written. */
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
