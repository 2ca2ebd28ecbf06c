import type { Ask } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { elapsed, when } from "../../lib/format.ts";
import { messageOf } from "../../link/client.ts";
import type { Actions } from "../../store/session.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { useNow } from "../ui/useNow.ts";

export interface AskTimeProps {
  readonly taskId: string;
  readonly ask: Ask;
  readonly actions: Pick<Actions, "extendAsk">;
}

/**
 * The time left for an open ask, with a button for more, if the person has set a limit; and the server's own deadline,
 * if it gave one.
 */
export function AskTime({ taskId, ask, actions }: AskTimeProps) {
  const { askId, expiresAt, waitsUntil, outcome } = ask;
  const open = outcome === undefined;
  const now = useNow(open && expiresAt !== undefined);
  const [refusal, setRefusal] = useState<string>();
  if (!open || (expiresAt === undefined && waitsUntil === undefined)) return null;
  const more = async () => {
    try {
      await actions.extendAsk({ taskId, askId });
      setRefusal(undefined);
    } catch (error) {
      setRefusal(messageOf(error));
    }
  };
  return (
    <div className="ask-time">
      {expiresAt !== undefined && (
        <p>
          <Icon name="clock" />
          <span role="timer">{l10n.t("{0} left to answer", elapsed(expiresAt - now))}</span>
          <button type="button" className="link" onClick={() => void more()}>
            {l10n.t("More Time")}
          </button>
        </p>
      )}
      {waitsUntil !== undefined && (
        <p>
          <Icon name="clock" />
          <span>{l10n.t("The server waits until {0}", when(waitsUntil))}</span>
        </p>
      )}
      {refusal !== undefined && <Refusal message={refusal} />}
    </div>
  );
}
