import * as l10n from "@vscode/l10n";
import { oneLine, previewText } from "./previewText.ts";

/** A link to Assent, `vscode://assent.assent/...`. Anyone may have written it. */
export type Link =
  /** `/task/ID`: a conversation. */
  | { readonly kind: "task"; readonly taskId: string }
  /** `/inbox`: the open questions. */
  | { readonly kind: "inbox" }
  /** `/mcp/install?JSON`: a server to add, in the shape that VS Code's own links have. */
  | { readonly kind: "install"; readonly server: LinkedServer };

/** A server that a link adds. It is not trusted. */
export interface LinkedServer {
  readonly name: string;
  /** The entry for `assent.servers`, under the server's name. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** The entries for `assent.inputs`. */
  readonly inputs: readonly LinkedInput[];
}

/** An input that the server needs. */
export interface LinkedInput {
  readonly id: string;
  readonly [member: string]: unknown;
}

/** Explains in a sentence for the person why a link is refused. */
export class LinkError extends Error {}

const longestQuery = 16_384;
const longestName = 64;

/** The members of a server that a link may set, and the rule for each. */
const serverMembers = {
  type: oneOf("stdio", "http", "sse", "ws"),
  command: isText,
  args: listOf(isText, 100),
  env: recordOf(isScalar, 100),
  url: isText,
  headers: recordOf(isText, 100),
  protocolVersion: isText,
  sharing: oneOf("task", "shared"),
} as const;

const inputMembers = {
  id: (value: unknown) => isText(value) && /^[\w.-]{1,64}$/.test(value),
  type: oneOf("promptString", "pickString"),
  description: isText,
  default: isText,
  password: (value: unknown) => typeof value === "boolean",
  options: listOf(isText, 100),
} as const;

/** Parses the unescaped path and query of a link. Throws a {@link LinkError}. */
export function parseLink(path: string, query: string): Link {
  const task = /^\/task\/([\w-]{1,64})\/?$/.exec(path)?.[1];
  if (task !== undefined) return { kind: "task", taskId: task };
  if (/^\/inbox\/?$/.test(path)) return { kind: "inbox" };
  if (/^\/mcp\/install\/?$/.test(path)) return { kind: "install", server: parseServer(query) };
  throw new LinkError(l10n.t("Unknown link: {0}", oneLine(path).slice(0, 100)));
}

function parseServer(query: string): LinkedServer {
  if (query.length > longestQuery) throw refusal(l10n.t("it is too long"));
  const members = asRecord(parseJson(query));
  if (members === undefined) throw refusal(l10n.t("it is not a JSON object"));
  const { name, inputs = [], ...entry } = members;
  if (typeof name !== "string" || !isPlainName(name)) {
    throw refusal(l10n.t("a server's name has 1 to {0} characters, all visible", longestName));
  }
  check(entry, serverMembers, name);
  if ((entry["command"] === undefined) === (entry["url"] === undefined)) {
    throw refusal(l10n.t("a server has either a command or a url"));
  }
  if (entry["url"] !== undefined && !/^(https?|wss?):\/\//i.test(String(entry["url"]))) {
    throw refusal(l10n.t("a server's url begins with http, https, ws or wss"));
  }
  return withInputsOfItsOwn(name, entry, readInputs(inputs));
}

function readInputs(value: unknown): readonly LinkedInput[] {
  if (!Array.isArray(value) || value.length > 20) {
    throw refusal(l10n.t("its inputs are not a list of at most 20"));
  }
  return value.map((each: unknown) => {
    const input = asRecord(each);
    if (input === undefined) throw refusal(l10n.t("an input is not an object"));
    check(input, inputMembers, "inputs");
    if (typeof input["id"] !== "string" || input["type"] === undefined) {
      throw refusal(l10n.t("an input has no id or no type"));
    }
    return { ...input, id: input["id"] };
  });
}

/**
 * Renames the inputs, so that only this server uses them. A link may reuse the id of another server's input, and must
 * not get the value that the person typed for that one.
 */
function withInputsOfItsOwn(
  name: string,
  entry: LinkedServer["entry"],
  inputs: readonly LinkedInput[],
): LinkedServer {
  const ids = new Set(inputs.map(({ id }) => id));
  if (ids.size < inputs.length) throw refusal(l10n.t("two of its inputs have the same id"));
  const own = (id: string): string => `${name}: ${id}`;
  const rename = (value: unknown): unknown => {
    if (typeof value === "string") {
      return value.replace(/\$\{input:([^}]*)\}/g, (_, id: string) => {
        if (ids.has(id)) return `\${input:${own(id)}}`;
        throw refusal(l10n.t("it asks for the input {0}, which it does not define", oneLine(id)));
      });
    }
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rename(each)]));
  };
  return {
    name,
    entry: rename(entry) as LinkedServer["entry"],
    inputs: inputs.map((input) => ({ ...input, id: own(input.id) })),
  };
}

/** Returns the document that shows what would be added to the settings. */
export function previewOfLink({ name, entry, inputs }: LinkedServer): string {
  const warnings = [
    entry["command"] === undefined
      ? l10n.t("A link requested this. Add the server only if you know who runs it.")
      : l10n.t(
          "A link requested this. The program can do everything that you can do on this machine. Add it only if you know it.",
        ),
  ];
  const variables = new Set(JSON.stringify(entry).match(/\$\{env:[^}]*\}/g));
  for (const variable of variables) {
    warnings.push(l10n.t("The server gets {0} from your environment.", variable));
  }
  return previewText({
    target: l10n.t("your settings, as assent.servers"),
    warnings,
    content: {
      "assent.servers": { [name]: entry },
      ...(inputs.length > 0 && { "assent.inputs": inputs }),
    },
  });
}

type Rule = (value: unknown) => boolean;

function check(
  members: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, Rule>>,
  of: string,
): void {
  for (const [member, value] of Object.entries(members)) {
    const name = oneLine(member).slice(0, 50);
    if (!Object.hasOwn(rules, member)) {
      throw refusal(l10n.t("{0} has {1}, which a link must not set", of, name));
    }
    if (rules[member]?.(value) !== true) {
      throw refusal(l10n.t("{0} of {1} is not valid", name, of));
    }
  }
}

function refusal(why: string): LinkError {
  return new LinkError(l10n.t("Cannot add the link's server: {0}.", why));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return { ...value };
}

/** Reports whether a name cannot be mistaken for another name, or for other text. */
function isPlainName(name: string): boolean {
  return name.length <= longestName && /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._@/-]*$/u.test(name);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= 4096;
}

function isScalar(value: unknown): boolean {
  return isText(value) || typeof value === "number" || typeof value === "boolean" || value === null;
}

function oneOf(...options: readonly string[]): Rule {
  return (value) => typeof value === "string" && options.includes(value);
}

function listOf(rule: Rule, most: number): Rule {
  return (value) => Array.isArray(value) && value.length <= most && value.every(rule);
}

function recordOf(rule: Rule, most: number): Rule {
  return (value) => {
    const record = asRecord(value);
    return (
      record !== undefined &&
      Object.keys(record).length <= most &&
      Object.values(record).every(rule)
    );
  };
}
