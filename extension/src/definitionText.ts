import type { ConfirmServerParams, ServerDefinition } from "@assent/protocol";
import * as l10n from "@vscode/l10n";

/** Returns the definition line by line. A changed line is followed by the value that the person confirmed last. */
export function definitionText({
  source,
  line,
  folder,
  definition,
  earlier,
}: ConfirmServerParams): string {
  const now = lines(definition);
  const before = earlier === undefined ? undefined : lines(earlier);
  const said: string[] = [];
  let changed = false;
  for (const [i, { label, value }] of now.entries()) {
    const old = before?.[i]?.value;
    if (value !== "") said.push(`${label}: ${value}`);
    if (old === undefined || old === value) continue;
    changed = true;
    if (value === "") said.push(l10n.t("{0}: removed", label));
    said.push(l10n.t("    before: {0}", old === "" ? l10n.t("nothing") : old));
  }
  if (before !== undefined && !changed) {
    said.push(
      l10n.t("A hidden value has changed, for example an environment variable or a header."),
    );
  }
  if (folder !== undefined) {
    said.push(
      "",
      l10n.t("It is a server of your own that would use files of the folder {0}.", folder),
    );
  }
  const place = line === undefined ? source : `${source}:${line}`;
  said.push("", l10n.t("It is configured in {0}.", place));
  return said.join("\n");
}

/** Returns the same lines for every definition. Lists are JSON, which shows where an element ends. */
function lines(d: ServerDefinition): readonly { label: string; value: string }[] {
  return [
    { label: l10n.t("Transport"), value: d.transport },
    { label: l10n.t("Command"), value: d.command ?? "" },
    { label: l10n.t("Arguments"), value: list(d.args) },
    { label: l10n.t("Folder"), value: d.cwd ?? "" },
    { label: l10n.t("Environment"), value: (d.envNames ?? []).join(", ") },
    { label: l10n.t("Environment file"), value: d.envFile ?? "" },
    { label: l10n.t("URL"), value: d.url ?? "" },
    { label: l10n.t("Headers"), value: (d.headerNames ?? []).join(", ") },
  ];
}

function list(elements: readonly string[] | undefined): string {
  return elements === undefined || elements.length === 0 ? "" : JSON.stringify(elements);
}
