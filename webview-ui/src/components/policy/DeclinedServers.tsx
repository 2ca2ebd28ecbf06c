import type { DeclinedServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { visible } from "../../lib/visible.ts";
import { messageOf } from "../../link/client.ts";
import type { Actions } from "../../store/session.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";

export interface DeclinedServersProps {
  readonly declined: readonly DeclinedServer[];
  readonly actions: Pick<Actions, "askAgain">;
  readonly label: string;
}

/** The servers for which the sidecar declines all requests. The person can end that for each. */
export function DeclinedServers({ declined, actions, label }: DeclinedServersProps) {
  const [refusal, setRefusal] = useState<string>();
  if (declined.length === 0) return null;
  const ask = async (serverName: string) => {
    setRefusal(undefined);
    try {
      await actions.askAgain(serverName);
    } catch (error) {
      setRefusal(messageOf(error));
    }
  };
  return (
    <section className="declined-servers" aria-label={label}>
      {declined.map(({ serverName, by }) => (
        <p key={serverName} className="notice">
          <Icon name="circle-slash" />
          <span role="status">
            {l10n.t(
              "You declined everything from {0} in {1}, until Assent starts again.",
              visible(serverName),
              visible(by),
            )}
          </span>{" "}
          <button type="button" className="link" onClick={() => void ask(serverName)}>
            {l10n.t("Ask Me Again")}
          </button>
        </p>
      ))}
      {refusal !== undefined && <Refusal message={refusal} />}
    </section>
  );
}
