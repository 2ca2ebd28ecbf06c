import * as l10n from "@vscode/l10n";
import { useAway } from "./ElsewhereContext.ts";

export interface ContinueHereProps {
  /** The id of what says what will happen. */
  readonly describedBy?: string | undefined;
}

/** Brings the open task to this window. Nothing where it is here. */
export function ContinueHere({ describedBy }: ContinueHereProps) {
  const away = useAway();
  if (away === undefined) return null;
  return (
    <button
      type="button"
      className="secondary"
      aria-disabled={away.taking}
      aria-describedby={describedBy}
      onClick={() => {
        if (!away.taking) away.onContinue();
      }}
    >
      {away.taking ? l10n.t("Continuing Here…") : l10n.t("Continue Here")}
    </button>
  );
}
