import * as l10n from "@vscode/l10n";
import { plural } from "../../lib/l10n.ts";

export interface ReplacedProps {
  readonly n: number;
  readonly open: boolean;
  readonly onToggle: () => void;
}

/** The line for messages that have left the conversation. */
export function Replaced({ n, open, onToggle }: ReplacedProps) {
  return (
    <button type="button" className="link replaced" aria-expanded={open} onClick={onToggle}>
      {open
        ? plural(n, l10n.t("Hide 1 replaced message"), l10n.t("Hide {0} replaced messages"))
        : plural(n, l10n.t("1 replaced message"), l10n.t("{0} replaced messages"))}
    </button>
  );
}
