import type { FindImportsResult, ImportName, ImportServer, ImportSource } from "@assent/protocol";

/** A line of the list to choose from: a heading, or a server that can be imported. */
export type ImportLine =
  | { readonly kind: "heading"; readonly label: string }
  | ({ readonly kind: "server" } & ImportChoice);

/** A server that can be imported. */
export interface ImportChoice extends ImportName {
  readonly program: string;
  readonly server: ImportServer;
}

/**
 * What is listed: the servers by file, each file below a heading that also names what is configured
 * already. A file that has nothing to offer is left out.
 */
export function importLines({ sources = [] }: FindImportsResult): readonly ImportLine[] {
  return sources.flatMap(({ program, path, servers = [] }): readonly ImportLine[] => {
    const fresh = servers.filter(({ known }) => known !== true);
    if (fresh.length === 0) return [];
    const known = servers.filter((server) => server.known).map(({ name }) => name);
    const already = known.length === 0 ? "" : ` (configured already: ${known.join(", ")})`;
    return [
      { kind: "heading", label: `${program}: ${path}${already}` },
      ...fresh.map((server) => ({
        kind: "server" as const,
        ...{ program, path, name: server.name, server },
      })),
    ];
  });
}

/** Why there is nothing to choose from, for the person. */
export function nothingToImport({ sources = [] }: FindImportsResult): string {
  return sources.some(({ servers = [] }) => servers.length > 0)
    ? "Every MCP server that other programs have configured here is configured already."
    : "No other program on this machine has MCP servers configured where Assent looks for them.";
}

/** The files that could not be read, a sentence each. */
export function importProblems({ sources = [] }: FindImportsResult): readonly string[] {
  return sources.flatMap(({ program, path, problem = "" }: ImportSource) =>
    problem === "" ? [] : [`${program}: ${path}: ${problem}`],
  );
}

/**
 * What stays chosen when the choice becomes another. Of two servers of one name only one can be
 * imported: the one that was chosen last.
 */
export function withoutTwins<T extends ImportName>(before: readonly T[], now: readonly T[]): T[] {
  const added = now.filter((choice) => !before.includes(choice));
  const latest = new Map([...now, ...added].map((choice) => [choice.name, choice]));
  return now.filter((choice) => latest.get(choice.name) === choice);
}

/** The command line of a server, or its URL, on one line. */
export function commandOf({ entry }: ImportServer): string {
  if (typeof entry !== "object" || entry === null) return "";
  const { url, command, args }: { url?: unknown; command?: unknown; args?: unknown } = entry;
  if (typeof url === "string") return oneLine(url);
  const words = [command, ...(Array.isArray(args) ? args : [])];
  return oneLine(words.filter((word) => typeof word === "string").join(" "));
}

/** The document that shows what will be written, before it is: JSON with comments. */
export function previewOf(choices: readonly ImportChoice[], file: string): string {
  const warnings = choices.flatMap(({ name, program, server }) =>
    (server.warnings ?? []).map(
      (warning) => `// ${oneLine(`${name}, of ${program}: ${warning}`)}\n`,
    ),
  );
  const servers = Object.fromEntries(choices.map(({ name, server }) => [name, server.entry]));
  return [
    `// This will be added to ${oneLine(file)}. Nothing is written yet.\n`,
    ...(warnings.length === 0 ? [] : ["//\n", ...warnings]),
    `${JSON.stringify({ servers }, null, 2)}\n`,
  ].join("");
}

/** Another program's file may have any text in it; none of it may begin a line of its own. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
}
