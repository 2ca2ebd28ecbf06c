import type { Ask } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { type Actions, messageOf } from "../../session.ts";
import { Refusal } from "../ui/Refusal.tsx";

export interface DeclinedAllProps {
  readonly ask: Ask;
  readonly actions: Pick<Actions, "askAgain">;
}

/** Says of a declined ask that the server's others are declined too, and takes that back. */
export function DeclinedAll({ ask: { question, outcome }, actions }: DeclinedAllProps) {
  const [again, setAgain] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  if (outcome?.declinedAll !== true) return null;
  const { serverName } = question;
  const ask = async () => {
    try {
      await actions.askAgain(serverName);
      setAgain(true);
    } catch (error) {
      setRefusal(messageOf(error));
    }
  };
  return (
    <div className="declined-all">
      <p role="status">
        {again
          ? l10n.t("You are asked again what {0} wants to know.", serverName)
          : l10n.t(
              "Whatever else {0} asks you for is declined until Assent starts again.",
              serverName,
            )}
      </p>
      {!again && (
        <button type="button" className="link" onClick={() => void ask()}>
          {l10n.t("Ask Me Again")}
        </button>
      )}
      {refusal !== undefined && <Refusal message={refusal} />}
    </div>
  );
}
