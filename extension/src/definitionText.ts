import type { ConfirmServerParams, DefinedValue, ServerDefinition } from "@assent/protocol";
import * as l10n from "@vscode/l10n";

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
  const said = (definition.warnings ?? []).map((warning) => `⚠ ${warning}`);
  if (said.length > 0) said.push("");
  const now = lines(definition);
  if (earlier === undefined) said.push(...[...now].map(([label, value]) => `${label}${value}`));
  else said.push(...changes(lines(earlier), now), ...hidden(earlier, definition));
  if (folder !== undefined) {
    said.push(
      "",
      l10n.t("It is a server of your own that would use files of the folder {0}.", folder),
    );
  }
  said.push("", l10n.t("It is configured in {0}.", placeOf(source, line)));
  if (hides !== undefined) {
    const own = placeOf(hides.source, hides.line);
    said.push("", l10n.t("It hides your own server of the same name, which is in {0}:", own));
    said.push(...[...lines(hides.definition)].map(([label, value]) => `${label}${value}`));
  }
  return said.join("\n");
}

function placeOf(source: string, line: number | undefined): string {
  return line === undefined ? source : `${source}:${line}`;
}

function changes(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const said: string[] = [];
  for (const [label, value] of now) {
    const old = before.get(label);
    said.push(`${label}${value}`);
    if (old !== value) said.push(l10n.t("    before: {0}", old ?? l10n.t("nothing")));
  }
  for (const [label, old] of before) {
    if (now.has(label)) continue;
    said.push(`${label}${l10n.t("(removed)")}`, l10n.t("    before: {0}", old));
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

/** Returns the values by their labels. Lists are JSON, which shows where an element ends. */
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
