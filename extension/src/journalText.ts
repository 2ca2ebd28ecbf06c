import type { ListJournalParams, ListJournalResult } from "@assent/protocol";
import * as l10n from "@vscode/l10n";

/** The part of the journal that the person wants to see. */
export interface JournalFilter {
  /** For the person: "the server weather". */
  readonly label: string;
  readonly params: ListJournalParams;
}

/** The commands with which the sidecar's program reads the journal in a folder. */
export function journalArgs(
  command: "export" | "verify",
  dataFolder: string,
  { serverName, taskId }: ListJournalParams = {},
): string[] {
  const args = ["journal", command, "--data-dir", dataFolder];
  if (serverName !== undefined) args.push("--server", serverName);
  if (taskId !== undefined) args.push("--task", taskId);
  return args;
}

/**
 * Renders a part of the journal as a document: a line for each record, and below it the record, indented, so that it
 * can be folded.
 */
export function journalText(
  { records = [], lines = [], earlier }: ListJournalResult,
  label: string,
  verify: readonly string[],
): string {
  const header = [
    l10n.t("Assent's journal: {0}, oldest first.", label),
    earlier === true
      ? l10n.t(
          "Only the newest records are shown. Assent: Show or Export Journal… writes all of them to a file.",
        )
      : l10n.t("Assent: Show or Export Journal… writes it to a file."),
    l10n.t("To check whether it was altered, run: {0}", verify.map(quoted).join(" ")),
  ];
  const entries = records.map((record, i) => {
    const whole = JSON.stringify(record, undefined, 2);
    return `${lines[i]?.trimStart() ?? ""}\n${whole.replace(/^/gm, "        ")}`;
  });
  if (entries.length === 0) entries.push(l10n.t("It is empty."));
  return `${header.join("\n")}\n\n${entries.join("\n")}\n`;
}

/** Quotes an argument for common shells. */
function quoted(argument: string): string {
  return /^[\w./:=-]+$/.test(argument) ? argument : `"${argument.replace(/(["$`\\])/g, "\\$1")}"`;
}
