import * as l10n from "@vscode/l10n";
import type {
  ConfirmServerParams,
  DefinedValue,
  HiddenServer,
  ServerDefinition,
} from "./protocol.ts";
import { visible } from "./visible.ts";

/** Asks whether a server may run, and names each file outside the workspace that it gets with a yes. */
export function confirmQuestion({ serverName, earlier, definition }: ConfirmServerParams): string {
  const name = oneLine(serverName);
  const message =
    earlier === undefined
      ? l10n.t("The MCP server {0} is new in this workspace. Run it?", name)
      : l10n.t("The MCP server {0} has changed since you confirmed it. Run it?", name);
  const reads = (definition.files ?? []).map((file) =>
    l10n.t("If you run it, it reads {0}.", oneLine(file)),
  );
  return [message, ...reads].join(" ");
}

/**
 * Returns the definition line by line, after what it means. A changed line is followed by the value that the person
 * confirmed last.
 */
export function definitionText({
  source,
  line,
  folder,
  hides,
  definition,
  earlier,
}: ConfirmServerParams): string {
  const said = (definition.warnings ?? []).map((warning) => `⚠ ${oneLine(warning)}`);
  if (said.length > 0) said.push("");
  if (earlier === undefined) said.push(...shown(definition));
  else said.push(...changes(lines(earlier), lines(definition)), ...hidden(earlier, definition));
  if (folder !== undefined) {
    said.push(
      "",
      l10n.t("It is a server of your own that would use files of the folder {0}.", oneLine(folder)),
    );
  }
  said.push("", l10n.t("It is configured in {0}.", placeOf(source, line)));
  if (hides !== undefined) said.push("", hidesText(hides));
  return said.join("\n");
}

/**
 * Returns several definitions in the order of their files, each below its server's name. What is the same of all new
 * servers is said once, at the end.
 */
export function definitionsText(servers: readonly ConfirmServerParams[]): string {
  const inOrder = servers.toSorted(
    (a, b) => a.source.localeCompare(b.source) || (a.line ?? 0) - (b.line ?? 0),
  );
  // A changed line belongs to the one before it, and a hidden server to its own.
  const plain = servers.every(({ earlier, hides }) => earlier === undefined && hides === undefined);
  const texts = inOrder.map(({ line, ...server }) =>
    definitionText(plain || line === undefined ? server : { ...server, line })
      .split("\n")
      .filter((said) => said !== ""),
  );
  const [first = []] = texts;
  const same = plain ? first.filter((said) => texts.every((other) => other.includes(said))) : [];
  const own = inOrder.map(({ serverName }, n) =>
    [oneLine(serverName), ...(texts[n] ?? []).filter((said) => !same.includes(said))].join("\n"),
  );
  const all = same.length > 0 ? [[l10n.t("All of them:"), ...same].join("\n")] : [];
  return [...own, ...all].join("\n\n");
}

/** Returns the person's own server that a server of the workspace hides, line by line. */
export function hidesText({ source, line, definition }: HiddenServer): string {
  const own = placeOf(source, line);
  return [
    l10n.t("It hides your own server of the same name, which is in {0}:", own),
    ...shown(definition),
  ].join("\n");
}

/** Returns a foreign text in one line. A line break in it must not make it look like another line of the definition. */
export function oneLine(text: string): string {
  return visible(text.replace(/[\n\r\t]/g, (character) => JSON.stringify(character).slice(1, -1)));
}

function placeOf(source: string, line: number | undefined): string {
  const place = oneLine(source);
  return line === undefined ? place : `${place}:${line}`;
}

function shown(definition: ServerDefinition): string[] {
  return [...lines(definition)].map(([label, value]) => `${oneLine(label)}${oneLine(value)}`);
}

function changes(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const said: string[] = [];
  const was = (old: string) => l10n.t("    before: {0}", oneLine(old));
  for (const [label, value] of now) {
    const old = before.get(label);
    said.push(`${oneLine(label)}${oneLine(value)}`);
    if (old !== value) said.push(was(old ?? l10n.t("nothing")));
  }
  for (const [label, old] of before) {
    if (now.has(label)) continue;
    said.push(`${oneLine(label)}${l10n.t("(removed)")}`, was(old));
  }
  return said;
}

/** Says that something changed which no line shows. */
function hidden(before: ServerDefinition, now: ServerDefinition): string[] {
  if (before.masked !== undefined && before.masked !== now.masked)
    return [l10n.t("A value that is masked here has changed.")];
  const same = JSON.stringify([...lines(before)]) === JSON.stringify([...lines(now)]);
  return same ? [l10n.t("A value that is not shown has changed.")] : [];
}

/** Returns the values by their labels, as they are written. Lists are JSON, which shows where an element ends. */
function lines(d: ServerDefinition): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  const add = (label: string, value: string | undefined) => {
    if (value) all.set(`${label}: `, value);
  };
  const addEach = (label: string, sign: string, values: readonly DefinedValue[] | undefined) => {
    for (const { name, value } of values ?? []) {
      all.set(`${label}: ${name}${sign}`, value === "" ? '""' : value);
    }
  };
  add(l10n.t("Transport"), d.transport);
  add(l10n.t("Command"), d.command);
  add(l10n.t("Program"), d.program);
  add(l10n.t("Arguments"), d.args?.length ? JSON.stringify(d.args) : undefined);
  add(l10n.t("Folder"), d.cwd);
  addEach(l10n.t("Environment"), "=", d.env);
  add(l10n.t("Environment file"), d.envFile);
  add(l10n.t("URL"), d.url);
  addEach(l10n.t("Header"), ": ", d.headers);
  addEach(l10n.t("Login"), ": ", d.login);
  addEach(l10n.t("Setting"), ": ", d.speaks);
  return all;
}
