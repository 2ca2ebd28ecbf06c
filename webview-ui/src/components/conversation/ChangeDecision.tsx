import * as l10n from "@vscode/l10n";
import { useContext } from "react";
import { DeclinedContext } from "../../store/contexts.ts";
import type { Actions } from "../../store/session.ts";
import type { Line } from "../../timeline/line.ts";

export interface ChangeDecisionProps {
  readonly at: NonNullable<Line["change"]>;
  readonly serverName: string;
  /** The grant that answered; undefined if something else did. */
  readonly grantId: string | undefined;
  /** The id of the line that it belongs to, which describes the button to screen readers. */
  readonly describedBy: string;
  readonly actions: Pick<Actions, "reveal" | "openConfiguration">;
}

/** Opens the place where the person can change the decision that answered for them, while it exists. */
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
