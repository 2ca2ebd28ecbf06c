import type { Ask, Outcome } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect } from "react";
import { when } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { byPerson, lineOf, permissionSaid } from "../../timeline/line.ts";
import type { Step } from "../../timeline/timeline.ts";
import { useView } from "../../view/ViewContext.ts";
import { type Draft, parseDraft } from "../../view/viewState.ts";
import { AskJSON } from "../ask/AskJSON.tsx";
import { PermissionDetails } from "../call/PermissionDetails.tsx";
import { ToolUseDetails } from "../call/ToolUseDetails.tsx";
import { FormDetails } from "../elicitation/FormDetails.tsx";
import { PageDetails } from "../elicitation/PageDetails.tsx";
import { Typed } from "../elicitation/Typed.tsx";
import { byHandKey } from "../sampling/AnswerAsModel.tsx";
import { ModelAnswering } from "../sampling/ModelAnswering.tsx";
import { RequestDetails } from "../sampling/RequestDetails.tsx";
import { ReviewDetails } from "../sampling/ReviewDetails.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { askElementId } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { AllowedFurther } from "./AllowedFurther.tsx";
import { ChangeDecision } from "./ChangeDecision.tsx";
import { Told } from "./Told.tsx";

export interface SettledStepProps {
  readonly taskId: string;
  readonly step: Step;
  readonly outcome: Outcome;
  readonly actions: Actions;
  readonly inCall: boolean;
}

/** A settled ask: one line, which opens to the details. */
export function SettledStep({ taskId, step, outcome, actions, inCall }: SettledStepProps) {
  const { ask, message } = step;
  const { askId, question } = ask;
  const keep = `${taskId}:${message.id}`;
  const draft = useLeftDraft(ask, outcome);
  const line = lineOf(step);
  if (line === undefined) return null;
  const { undelivered = "" } = outcome;
  return (
    <div className="step">
      <div className="step-line">
        <Disclosure
          keep={`${keep}:step`}
          summaryId={askElementId(askId)}
          summary={
            <>
              <Icon name={line.icon} />
              <span className="step-words">
                {line.words}
                {!inCall && <span className="muted"> · {visible(question.serverName)}</span>}
              </span>
            </>
          }
        >
          <Details {...{ step, outcome, keep }} />
          <Told {...{ ask, outcome, inCall }} />
          <AskJSON {...{ question, keep }} undelivered={undelivered !== ""} />
        </Disclosure>
        {line.change !== undefined && (
          <ChangeDecision
            at={line.change}
            serverName={question.serverName}
            grantId={outcome.grantId}
            describedBy={askElementId(askId)}
            actions={actions}
          />
        )}
      </div>
      {undelivered !== "" && <p className="muted">{undelivered}</p>}
      {outcome.completedAt !== undefined && (
        <p className="muted" role="status">
          {filled(
            l10n.t("The server reported completion at {0}"),
            <span>{when(outcome.completedAt)}</span>,
          )}
        </p>
      )}
      {question.type === "mcp_elicitation" && draft !== undefined && (
        <Typed
          intro={l10n.t("You typed this, but it was not sent:")}
          fields={question.elicitationRequest.fields ?? []}
          draft={draft}
        />
      )}
      {question.type === "mcp_sampling" && draft !== undefined && (
        <Typed
          intro={l10n.t("You wrote this as the model, but it was not sent:")}
          fields={[{ type: "string", name: byHandKey.text, title: l10n.t("Completion") }]}
          draft={draft}
        />
      )}
      {question.type === "mcp_sampling" && (
        <ModelAnswering {...{ taskId, ask, question, actions, keep }} reviewed={step.reviewed} />
      )}
      {outcome.grantId !== undefined && <AllowedFurther {...{ askId, outcome, actions }} />}
    </div>
  );
}

interface DetailsProps {
  readonly step: Step;
  readonly outcome: Outcome;
  readonly keep: string;
}

/** The whole question and the whole answer. */
function Details({ step: { ask, reviewed, told }, outcome, keep }: DetailsProps) {
  const { askId, question } = ask;
  switch (question.type) {
    case "mcp_elicitation":
      return <FormDetails {...{ askId, question }} />;
    case "mcp_url_elicitation":
      return <PageDetails {...{ askId, question }} />;
    case "mcp_sampling":
      return <RequestDetails {...{ question, reviewed, keep }} />;
    case "mcp_sampling_review":
      return <ReviewDetails {...{ question, outcome, keep }} />;
    case "use_mcp_tool":
    case "access_mcp_resource":
      return <ToolUseDetails {...{ question, told, keep }} />;
    case "repeat_mcp_call":
      return <p>{visible(question.reason)}</p>;
    case "host_permission":
      return (
        <>
          <PermissionDetails {...{ question, keep }} />
          {permissionSaid(question).map((said) => (
            <p key={said}>{said}</p>
          ))}
        </>
      );
    default:
      return unreachable(question);
  }
}

/**
 * Returns the draft of an ask that ended without the person. When a person settles an ask, their draft is dropped.
 */
function useLeftDraft({ askId, question, draft }: Ask, { reason }: Outcome): Draft | undefined {
  const view = useView();
  const over = byPerson(reason) || question.type === "mcp_url_elicitation";
  useEffect(() => {
    if (over && view.draft(askId) !== undefined) view.setDraft(askId, undefined);
  }, [over, askId, view]);
  return over ? undefined : (view.draft(askId) ?? parseDraft(draft));
}
