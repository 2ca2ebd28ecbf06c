import * as l10n from "@vscode/l10n";
import { useContext } from "react";
import { DeclinedContext } from "../../store/contexts.ts";
import type { Actions } from "../../store/session.ts";
import type { Line } from "../../timeline/line.ts";

export interface ChangeDecisionProps {
  readonly at: NonNullable<Line["change"]>;
  readonly serverName: string;
  /** The grant that answered; absent where something else did. */
  readonly grantId: string | undefined;
  /** The element with the line that it belongs to, for who hears the button alone. */
  readonly describedBy: string;
  readonly actions: Pick<Actions, "reveal" | "openConfiguration">;
}

/** Leads to where the person changes the decision that answered in their place, as long as it stands. */
export function ChangeDecision({
  at,
  serverName,
  grantId,
  describedBy,
  actions,
}: ChangeDecisionProps) {
  const declined = useContext(DeclinedContext);
  if (at === "declined" && !declined.some((server) => server.serverName === serverName)) {
    return null;
  }
  return (
    <button
      type="button"
      className="link"
      aria-describedby={describedBy}
      onClick={() =>
        at === "settings"
          ? actions.openConfiguration({ source: "settings" })
          : actions.reveal({ kind: "policy", ...(grantId !== undefined && { grantId }) })
      }
    >
      {l10n.t("Change")}
    </button>
  );
}
