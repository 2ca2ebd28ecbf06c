import type {
  FieldProblem,
  GrantTerms,
  HandWritten,
  McpSamplingRequest,
  Model,
  SamplingContext,
  SamplingEdit,
  SecretFinding,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { visible } from "../../lib/visible.ts";
import { useDraft } from "../../view/useDraft.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";
import { AcceptButton } from "../ask/AcceptButton.tsx";
import { AskCard } from "../ask/AskCard.tsx";
import { DeclineButton } from "../ask/DeclineButton.tsx";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { useEditing } from "../ask/useEditing.ts";
import { type Reading, useReading } from "../ask/useReading.ts";
import { SecretsContext } from "../content/Marked.tsx";
import { grantKey, isOfGrant } from "../grants/grantForm.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { focusAsk } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import {
  AnswerActions,
  AnswerAsModel,
  byHandKey,
  isOfByHand,
  isOfCompletion,
} from "./AnswerAsModel.tsx";
import { AnsweringModel, candidatesOf, NoModel } from "./AnsweringModel.tsx";
import { AllowActions, ApproveAndAllow } from "./ApproveAndAllow.tsx";
import { warningsOf } from "./modelLimits.ts";
import { SamplingChanges } from "./SamplingChanges.tsx";
import { SamplingContextChoice } from "./SamplingContextChoice.tsx";
import { SamplingDetails } from "./SamplingDetails.tsx";
import { SamplingEditor } from "./SamplingEditor.tsx";
import { SamplingSecrets } from "./SamplingSecrets.tsx";
import { draftKey, editOf, redact, withContext } from "./samplingDraft.ts";
import { summarize } from "./samplingMeasure.ts";
import { useSecrets } from "./useSecrets.ts";

export interface McpSamplingApprovalProps {
  readonly askId: string;
  readonly serverName: string;
  readonly toolNames: readonly string[];
  readonly resourceUri?: string | undefined;
  readonly request: McpSamplingRequest;
  /** The model that the sidecar proposes; undefined if there is none. */
  readonly model: Model | undefined;
  /** Why it proposes that one. The text may quote the server. */
  readonly modelReason?: string | undefined;
  /** Why no grant approved it, if one nearly did. */
  readonly grantReason?: string | undefined;
  /** The possible secrets in it. */
  readonly secrets?: readonly SecretFinding[] | undefined;
  /** The part of the conversation that the server asks for. */
  readonly context?: SamplingContext | undefined;
  /** The models to choose from; undefined until they were listed. */
  readonly models: readonly Model[] | undefined;
  /** Why VS Code's models are missing. */
  readonly away?: string | undefined;
  /** The choices and texts from before the view was loaded. */
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft) => void;
  /** An answer is being sent. No second one is possible until it is confirmed or refused. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The secrets that caused the refusal, in words. The person typed them. */
  readonly refusedSecrets?: readonly string[] | undefined;
  /** The problems that the sidecar found in a grant's terms or in the person's own completion. */
  readonly fieldProblems?: readonly FieldProblem[] | undefined;
  /**
   * The person approves the request; with another model or with edits, if these are given.
   */
  readonly onApprove: (approval: Approval) => void;
  /** The person declined. */
  readonly onDecline: () => void;
  /** The person dismissed the request. */
  readonly onCancel: () => void;
  readonly keep: string;
}

export interface Approval {
  readonly modelId?: string;
  readonly samplingEdit?: SamplingEdit;
  readonly includeContext?: boolean;
  readonly confirmSecrets?: boolean;
  /** Approves later similar requests without asking, within these bounds. */
  readonly grant?: GrantTerms;
  /** The person's own completion, in place of a model's. The other members are then unset. */
  readonly handWritten?: HandWritten;
}

/** A server's request to a model that waits for approval. */
export function McpSamplingApproval(props: McpSamplingApprovalProps) {
  const { askId, serverName, toolNames, resourceUri, request, secrets = [] } = props;
  const { model, modelReason = "", busy, refusal, keep, fieldProblems } = props;
  const { onApprove, onDecline, onCancel } = props;
  const reading = useReading();
  const ready = useClickGuard("asked", reading.state) && !busy;
  const approval = useApproval(props);
  const { draft, input, answering, candidates, nobody, editing } = approval;
  const wordsId = useId();
  const isProposed = answering !== undefined && answering.id === model?.id;
  const isAnswering = own(draft, byHandKey.open) === true;
  const isAllowing = own(draft, grantKey.open) === true && answering !== undefined && !isAnswering;
  const [toolName] = toolNames.length === 1 ? toolNames : [];
  const close = (key: string) => () => {
    input(key, false);
    focusAsk(askId); // the pressed button has been removed
  };
  const allowing = {
    ...{ draft, busy, wordsId },
    scope: { serverName, toolName, model: answering, models: candidates },
    onClose: close(grantKey.open),
  };
  const byHand = { ...{ draft, busy }, onClose: close(byHandKey.open) };
  // Problems of the person's own completion are shown at its fields.
  const isAtField = isAnswering ? fieldProblems !== undefined : isOfCompletion(fieldProblems);
  return (
    <SecretsContext value={secrets}>
      <AskCard
        {...{ askId, serverName, toolNames, resourceUri, reading, busy }}
        icon="sparkle"
        does={l10n.t("{0} wants to ask a model")}
        problems={
          <>
            {nobody && !isAnswering && <NoModel />}
            {refusal !== undefined && !isAtField && <Refusal message={refusal} />}
          </>
        }
        actions={
          isAnswering ? (
            <AnswerActions
              {...byHand}
              {...{ ready }}
              onAnswer={(handWritten) => onApprove({ handWritten })}
            />
          ) : isAllowing ? (
            <AllowActions
              {...allowing}
              {...{ reading, ready }}
              canSend={approval.canSend}
              onApprove={approval.approve}
            />
          ) : (
            <>
              <ApproveButton {...{ approval, reading, ready, busy }} />
              <DeclineButton {...{ serverName, ready, busy, onDecline, onCancel }} />
              <button {...editing.toggle} disabled={busy}>
                <Icon name="edit" />
                <span className="narrow-hidden">{l10n.t("Edit")}</span>
              </button>
            </>
          )
        }
        below={isProposed && modelReason !== "" && <p className="muted">{visible(modelReason)}</p>}
      >
        {isAnswering ? (
          <>
            <Disclosure keep={`${keep}:request`} summary={summarize(request)} initiallyOpen>
              <SamplingDetails {...{ request, keep }} lastFirst />
            </Disclosure>
            <AnswerAsModel {...byHand} problems={fieldProblems} onInput={input} />
          </>
        ) : (
          <>
            <RequestToApprove {...props} approval={approval} />
            <ModelToAnswer {...props} approval={approval} />
            {isAllowing && (
              <ApproveAndAllow {...allowing} problems={fieldProblems} onInput={input} />
            )}
          </>
        )}
      </AskCard>
    </SecretsContext>
  );
}

type ApprovalState = ReturnType<typeof useApproval>;

/** The person's choices for a request: the edits, the model, the context, and the possible secrets. */
function useApproval(props: McpSamplingApprovalProps) {
  const { request, model, models, secrets = [], context, refusedSecrets = [], busy } = props;
  const [draft, setDraft] = useDraft(props.draft, props.onDraft);
  const input = (key: string, value: FieldInput) => setDraft({ ...draft, [key]: value });
  const { edit, request: edited, problems } = editOf(request, draft, secrets);
  const isWrong = Object.keys(problems).length > 0;
  // A problem stays visible, because it prevents sending the request.
  const isEditing = own(draft, draftKey.editing) === true || isWrong;
  const editing = useEditing(isEditing, (now) => input(draftKey.editing, now));

  const candidates = candidatesOf(model, models);
  const chosen = own(draft, draftKey.model);
  const answering = candidates.find(({ id }) => id === chosen) ?? model ?? candidates[0];
  const nobody = answering === undefined && models !== undefined;
  const included = own(draft, draftKey.context) === true ? context : undefined;
  const found = useSecrets({
    secrets,
    refused: refusedSecrets,
    request: edited,
    context: included,
    version: JSON.stringify(Object.entries(draft).filter(([key]) => isOfContent(key))),
  });
  return {
    ...{ draft, input, edit, edited, problems, isWrong, isEditing, editing },
    ...{ candidates, answering, nobody, included, found },
    // An invalid edit cannot be measured.
    measured: withContext(isWrong ? request : edited, included),
    canSend: !nobody && !busy && !isWrong && (!found.hasSecrets || found.isConfirmed),
    approve(grant?: GrantTerms) {
      found.noteSent();
      props.onApprove({
        ...(answering !== undefined && answering.id !== model?.id && { modelId: answering.id }),
        ...(edit !== undefined && { samplingEdit: edit }),
        ...(included !== undefined && { includeContext: true }),
        ...(found.hasSecrets && { confirmSecrets: true }),
        ...(grant !== undefined && { grant }),
      });
    },
    redact: (numbers: readonly number[]) => setDraft(redact(request, draft, secrets, numbers)),
    reset: () =>
      setDraft({
        ...Object.fromEntries(Object.entries(draft).filter(([key]) => !isOfEdit(key))),
        [draftKey.editing]: isEditing,
      }),
  };
}

interface ApproveButtonProps {
  readonly approval: ApprovalState;
  readonly reading: Reading;
  readonly ready: boolean;
  readonly busy: boolean;
}

function ApproveButton({ approval, reading, ready, busy }: ApproveButtonProps) {
  const { answering, canSend, approve, input } = approval;
  return (
    <AcceptButton
      label={l10n.t("Approve & Send")}
      moreLabel={l10n.t("More Ways to Approve")}
      {...{ reading, ready, busy }}
      disabled={!canSend}
      onClick={() => approve()}
      entries={[
        ...(answering === undefined
          ? []
          : [
              {
                label: l10n.t("Approve and Allow…"),
                about: l10n.t(
                  "Requests like this one are then approved without asking, within bounds that you set.",
                ),
                opens: true,
                onChoose: () => input(grantKey.open, true),
              },
            ]),
        {
          label: l10n.t("Answer as the Model…"),
          about: l10n.t("You write the completion, and no model is asked."),
          opens: true,
          onChoose: () => input(byHandKey.open, true),
        },
      ]}
    />
  );
}

interface PartProps extends McpSamplingApprovalProps {
  readonly approval: ApprovalState;
}

/** The request as it would be sent, to read or edit, and the possible secrets in it. */
function RequestToApprove({ approval, ...props }: PartProps) {
  const { request, secrets = [], context, grantReason = "", busy, keep } = props;
  const { draft, input, edit, edited, problems, isWrong, isEditing, editing } = approval;
  const { answering, included, found } = approval;
  const summary = summarize(approval.measured, answering);
  return (
    <>
      {grantReason !== "" && (
        <p className="notice notice-info">
          <Icon name="info" />
          <span>{visible(grantReason)}</span>
        </p>
      )}
      {isEditing ? (
        <>
          <p className="muted">{summary}</p>
          <div ref={editing.fields}>
            <SamplingEditor
              {...{ request, draft, secrets, problems, keep }}
              disabled={busy}
              onInput={input}
              onKeyDown={editing.onKeyDown}
            />
          </div>
        </>
      ) : (
        <Disclosure keep={`${keep}:request`} summary={summary} initiallyOpen>
          <SamplingDetails request={edited} keep={keep} lastFirst />
        </Disclosure>
      )}
      {edit !== undefined && !isWrong && (
        <Disclosure keep={`${keep}:changes`} summary={l10n.t("What you changed")} initiallyOpen>
          <SamplingChanges asked={request} sent={edited} keep={keep} />
        </Disclosure>
      )}
      {edit !== undefined && (
        <button type="button" className="link" disabled={busy} onClick={approval.reset}>
          {l10n.t("Undo all changes")}
        </button>
      )}
      {context !== undefined && (
        <SamplingContextChoice
          {...{ context, keep }}
          included={included !== undefined}
          disabled={busy}
          onInclude={(include) => input(draftKey.context, include)}
        />
      )}
      <SamplingSecrets
        secrets={found.placed}
        refused={found.refused}
        confirmed={found.isConfirmed}
        disabled={busy}
        onRedact={approval.redact}
        onConfirm={found.confirm}
      />
    </>
  );
}

/** The answering model, and its limits. */
function ModelToAnswer({ approval, ...props }: PartProps) {
  const { away, busy } = props;
  const { answering, candidates, measured, input } = approval;
  const warnings = answering === undefined ? [] : warningsOf(measured, answering);
  return (
    <>
      <AnsweringModel
        label={l10n.t("Answered by")}
        model={answering}
        {...{ candidates, away }}
        disabled={busy}
        onChoose={(id) => input(draftKey.model, id)}
      />
      {warnings.map((warning) => (
        <p key={warning} className="notice notice-warning">
          <Icon name="warning" />
          <span>{visible(warning)}</span>
        </p>
      ))}
    </>
  );
}

/** The model, the context, a grant and the person's own completion do not change the request. */
function isOfEdit(key: string): boolean {
  return key !== draftKey.model && key !== draftKey.context && !isOfGrant(key) && !isOfByHand(key);
}

/** The sent request depends on these. They are shorter to compare than a request with images. */
function isOfContent(key: string): boolean {
  return key === draftKey.context || (isOfEdit(key) && key !== draftKey.editing);
}
