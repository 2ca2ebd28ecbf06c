import type { Ask } from "@assent/protocol";
import { useState } from "react";
import { type Actions, messageOf } from "../../session.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { useNow } from "../ui/useNow.ts";
import { elapsed } from "../ui/words.ts";

export interface AskTimeProps {
  readonly taskId: string;
  readonly ask: Ask;
  readonly actions: Pick<Actions, "extendAsk">;
}

/** The time that is left for an open ask, where the person has limited it, and more of it. */
export function AskTime({ taskId, ask, actions }: AskTimeProps) {
  const { askId, expiresAt, outcome } = ask;
  const open = expiresAt !== undefined && outcome === undefined;
  const now = useNow(open);
  const [refusal, setRefusal] = useState<string>();
  if (!open) return null;
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
      <p>
        <Icon name="clock" />
        <span role="timer">{elapsed(expiresAt - now)} left to answer</span>
        <button type="button" className="link" onClick={() => void more()}>
          More Time
        </button>
      </p>
      {refusal !== undefined && <Refusal message={refusal} />}
    </div>
  );
}
