import type { Outcome } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useGrant } from "../../store/contexts.ts";
import type { Actions } from "../../store/session.ts";
import { isAlive, termsInWords } from "../grants/grantWords.ts";
import { ActButton } from "../ui/ActButton.tsx";
import { focusAsk } from "../ui/focus.ts";

export interface AllowedFurtherProps {
  readonly askId: string;
  readonly outcome: Outcome;
  readonly actions: Pick<Actions, "revokeGrant">;
}

/** The permission that the person gave, or that approved the request for them, until they revoke it. */
export function AllowedFurther({ askId, outcome, actions }: AllowedFurtherProps) {
  const grant = useGrant(outcome.grantId);
  if (grant === undefined || !isAlive(grant, Date.now())) return null;
  const revoke = async () => {
    await actions.revokeGrant(grant.id);
    focusAsk(askId); // the button is gone
  };
  return (
    <div className="allowed-further">
      <p className="muted">{l10n.t("You allowed: {0}", termsInWords(grant))}</p>
      <ActButton
        text={l10n.t("Revoke {0}")}
        of={l10n.t("the grant that approved this")}
        onAct={revoke}
      />
    </div>
  );
}
