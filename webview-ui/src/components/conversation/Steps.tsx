import * as l10n from "@vscode/l10n";
import { memo } from "react";
import type { Actions } from "../../store/session.ts";
import type { Step } from "../../timeline/timeline.ts";
import { Boundary } from "../ui/Boundary.tsx";
import { messageElementId } from "../ui/focus.ts";
import { SettledStep } from "./SettledStep.tsx";
import { UndrawnMessage } from "./UndrawnMessage.tsx";
import { Unsaved } from "./Unsaved.tsx";
import { WaitingLine } from "./WaitingLine.tsx";

export interface StepsProps {
  readonly taskId: string;
  readonly steps: readonly Step[];
  readonly actions: Actions;
  /** The steps are shown beside their call. */
  readonly inCall: boolean;
}

/** The asks of an entry, one line each. */
export function Steps({ taskId, steps, actions, inCall }: StepsProps) {
  if (steps.length === 0) return null;
  // A single question in its own row needs no list in the list of rows.
  const role = !inCall && steps.length === 1 ? "presentation" : undefined;
  return (
    <ol
      className="steps"
      {...(role === undefined ? { "aria-label": l10n.t("Questions") } : { role })}
    >
      {steps.map((step) => (
        <li key={step.message.id} role={role}>
          <Boundary
            subject={step.message}
            instead={(problem, onRetry) => (
              <UndrawnMessage {...{ taskId, problem, actions, onRetry }} message={step.message} />
            )}
          >
            <StepLine {...{ taskId, step, actions, inCall }} />
          </Boundary>
        </li>
      ))}
    </ol>
  );
}

interface StepLineProps {
  readonly taskId: string;
  readonly step: Step;
  readonly actions: Actions;
  readonly inCall: boolean;
}

/** It renders again only when its ask changes. */
const StepLine = memo(function StepLine({ taskId, step, actions, inCall }: StepLineProps) {
  const { message, ask } = step;
  return (
    <>
      {ask.outcome === undefined ? (
        <WaitingLine ask={ask} elementId={messageElementId(message.id)} />
      ) : (
        <SettledStep {...{ taskId, step, actions, inCall }} outcome={ask.outcome} />
      )}
      {message.unsaved === true && <Unsaved />}
    </>
  );
});
