import type { Outcome, RepeatMcpCall } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { filled } from "../../l10n.ts";
import { during } from "./during.ts";
import { OutcomeLine } from "./OutcomeLine.tsx";
import { SettledAsk } from "./SettledAsk.tsx";

export interface RepeatCallRecordProps {
  readonly askId: string;
  readonly question: RepeatMcpCall;
  readonly outcome: Outcome;
}

/** Whether a call that failed was made once more. */
export function RepeatCallRecord({ askId, question, outcome }: RepeatCallRecordProps) {
  return (
    <SettledAsk
      askId={askId}
      head={
        <>
          {filled(
            l10n.t("A call of {0} had failed"),
            <span className="name">{question.serverName}</span>,
          )}{" "}
          <span className="muted">{during(question)}</span>
        </>
      }
    >
      <OutcomeLine
        outcome={outcome}
        yes={l10n.t("Called once more")}
        no={l10n.t("Left as it failed")}
      />
    </SettledAsk>
  );
}
