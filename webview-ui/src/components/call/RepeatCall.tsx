import type { RepeatMcpCall } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { AskCard } from "../ask/AskCard.tsx";
import { DeclineButton } from "../ask/DeclineButton.tsx";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { Refusal } from "../ui/Refusal.tsx";

export interface RepeatCallProps {
  readonly askId: string;
  readonly question: RepeatMcpCall;
  /** An answer is under way. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The person wants the call made once more. */
  readonly onRepeat: () => void;
  /** The person leaves the call as it failed. */
  readonly onDecline: () => void;
  /** The person put the question away and said nothing. */
  readonly onCancel: () => void;
}

/** A call failed, and may have done something before it did: the person decides whether it is made once more. */
export function RepeatCall(props: RepeatCallProps) {
  const { askId, question, busy, refusal, onRepeat, onDecline, onCancel } = props;
  const { serverName, toolNames = [], reason } = question;
  const ready = useClickGuard("asked") && !busy;
  return (
    <AskCard
      {...{ askId, serverName, toolNames, busy }}
      icon="debug-restart"
      does={l10n.t("Call {0} again?")}
      problems={refusal !== undefined && <Refusal message={refusal} />}
      actions={
        <>
          <button
            type="button"
            className="primary"
            aria-disabled={!ready}
            onClick={() => {
              if (ready) onRepeat();
            }}
          >
            {l10n.t("Call Again")}
          </button>
          <DeclineButton {...{ serverName, ready, onDecline, onCancel }} />
        </>
      }
    >
      <p>{reason}</p>
    </AskCard>
  );
}
