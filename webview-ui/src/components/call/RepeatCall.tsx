import type { RepeatMcpCall } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { AcceptButton } from "../ask/AcceptButton.tsx";
import { AskCard } from "../ask/AskCard.tsx";
import { DeclineButton } from "../ask/DeclineButton.tsx";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { useReading } from "../ask/useReading.ts";
import { Refusal } from "../ui/Refusal.tsx";

export interface RepeatCallProps {
  readonly askId: string;
  readonly question: RepeatMcpCall;
  /** An answer is being sent. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The person calls again. */
  readonly onRepeat: () => void;
  /** The person does not call again. */
  readonly onDecline: () => void;
  /** The person dismissed the question. */
  readonly onCancel: () => void;
}

/** Asks whether to call again after a failed call that may have had effects. */
export function RepeatCall(props: RepeatCallProps) {
  const { askId, question, busy, refusal, onRepeat, onDecline, onCancel } = props;
  const { serverName, toolNames = [], reason } = question;
  const reading = useReading();
  const ready = useClickGuard("asked", reading.state) && !busy;
  return (
    <AskCard
      {...{ askId, serverName, toolNames, reading, busy }}
      icon="debug-restart"
      does={l10n.t("Call {0} again?")}
      problems={refusal !== undefined && <Refusal message={refusal} />}
      actions={
        <>
          <AcceptButton label={l10n.t("Call Again")} {...{ reading, ready }} onClick={onRepeat} />
          <DeclineButton {...{ serverName, ready, onDecline, onCancel }} />
        </>
      }
    >
      <p>{reason}</p>
    </AskCard>
  );
}
