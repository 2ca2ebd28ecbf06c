import * as l10n from "@vscode/l10n";
import { plural } from "../../lib/l10n.ts";

/** Says which of the open questions is shown. */
export function countWords(at: number, total: number): string {
  return l10n.t({
    message: "{0} of {1}",
    args: [at, total],
    comment: ["Which of the open questions is shown."],
  });
}

/** Says that all open questions are on pages that are not loaded. */
export function olderWords(older: number): string {
  return plural(
    older,
    l10n.t("1 open question further up"),
    l10n.t("{0} open questions further up"),
  );
}
