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
import { useDraft } from "../../view/useDraft.ts";
import { type Draft, type FieldInput, own } from "../../viewState.ts";
import { AskCard } from "../ask/AskCard.tsx";
import { DeclineButton } from "../ask/DeclineButton.tsx";
import { useArmed } from "../ask/useArmed.ts";
import { useEditing } from "../ask/useEditing.ts";
import { SecretsContext } from "../content/Marked.tsx";
import { grantKey, isOfGrant } from "../grants/grantForm.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { focusAsk } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { SplitButton } from "../ui/SplitButton.tsx";
import { visible } from "../ui/visible.ts";
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
  /** The model that the sidecar proposes; absent if it had none. */
  readonly model: Model | undefined;
  /** Why it proposes that one; the line may quote the server. */
  readonly modelReason?: string | undefined;
  /** Why no grant approved it, where one nearly did. */
  readonly grantReason?: string | undefined;
  /** What looks like a secret in it. */
  readonly secrets?: readonly SecretFinding[] | undefined;
  /** The part of the conversation that the server asks for. */
  readonly context?: SamplingContext | undefined;
  /** The models to choose from; absent until they were listed. */
  readonly models: readonly Model[] | undefined;
  /** Why VS Code's models are not among them. */
  readonly away?: string | undefined;
  /** The choices and texts from before the view was loaded. */
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft) => void;
  /** An answer is under way: until it is confirmed or refused, there is no second one. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The secrets that caused the refusal, in words. The person had typed them. */
  readonly refusedSecrets?: readonly string[] | undefined;
  /** The problems that the sidecar found in the terms of a grant, or in the person's own completion. */
  readonly fieldProblems?: readonly FieldProblem[] | undefined;
  /**
   * The person lets the request go to a model; to another than the proposed one, and edited, where it
   * says so.
   */
  readonly onApprove: (approval: Approval) => void;
  /** The person said no. */
  readonly onDecline: () => void;
  /** The person put the request away and said nothing. */
  readonly onCancel: () => void;
  readonly keep: string;
}

export interface Approval {
  readonly modelId?: string;
  readonly samplingEdit?: SamplingEdit;
  readonly includeContext?: boolean;
  readonly confirmSecrets?: boolean;
  /** The next requests like it go without asking, within these bounds. */
  readonly grant?: GrantTerms;
  /** The person's own completion, in place of a model's. Then there is nothing else. */
  readonly handWritten?: HandWritten;
}

/** A server's request to a model, as long as it waits for approval. */
export function McpSamplingApproval(props: McpSamplingApprovalProps) {
  const {
    askId,
    serverName,
    toolNames,
    resourceUri,
    request,
    model,
    models,
    away,
    busy,
    refusal,
    keep,
  } = props;
  const {
    modelReason = "",
    grantReason = "",
    secrets = [],
    context,
    refusedSecrets = [],
    fieldProblems,
  } = props;
  const { onDraft, onApprove, onDecline, onCancel } = props;
  const ready = useArmed() && !busy;
  const [draft, setDraft] = useDraft(props.draft, onDraft);
  const input = (key: string, value: FieldInput) => setDraft({ ...draft, [key]: value });
  const reset = () =>
    setDraft({
      ...Object.fromEntries(Object.entries(draft).filter(([key]) => !isOfEdit(key))),
      [draftKey.editing]: isEditing,
    });
  const { edit, request: edited, problems } = editOf(request, draft, secrets);
  const isWrong = Object.keys(problems).length > 0;
  // A problem stays in sight, because it is why the request cannot be sent.
  const isEditing = own(draft, draftKey.editing) === true || isWrong;
  const editing = useEditing(isEditing, (now) => input(draftKey.editing, now));

  const candidates = candidatesOf(model, models);
  const chosen = own(draft, draftKey.model);
  const answering = candidates.find(({ id }) => id === chosen) ?? model ?? candidates[0];
  const nobody = answering === undefined && models !== undefined;
  const included = own(draft, draftKey.context) === true ? context : undefined;
  const isAnswering = own(draft, byHandKey.open) === true;
  const isAllowing = own(draft, grantKey.open) === true && answering !== undefined && !isAnswering;
  const wordsId = useId();
  const [toolName] = toolNames.length === 1 ? toolNames : [];
  // A wrong edit cannot be measured.
  const measured = withContext(isWrong ? request : edited, included);
  const summary = summarize(measured, answering);
  const warnings = answering === undefined ? [] : warningsOf(measured, answering);
  const found = useSecrets({
    secrets,
    refused: refusedSecrets,
    request: edited,
    context: included,
    version: JSON.stringify(Object.entries(draft).filter(([key]) => isOfContent(key))),
  });
  const canSend = !nobody && !busy && !isWrong && (!found.hasSecrets || found.isConfirmed);
  const approve = (grant?: GrantTerms) => {
    found.noteSent();
    onApprove({
      ...(answering !== undefined && answering.id !== model?.id && { modelId: answering.id }),
      ...(edit !== undefined && { samplingEdit: edit }),
      ...(included !== undefined && { includeContext: true }),
      ...(found.hasSecrets && { confirmSecrets: true }),
      ...(grant !== undefined && { grant }),
    });
  };
  const allowing = {
    ...{ draft, busy, wordsId },
    scope: { serverName, toolName, model: answering, models: candidates },
    onClose: () => {
      input(grantKey.open, false);
      focusAsk(askId); // the pressed button is gone
    },
  };
  // What is wrong with the person's own completion is said at its fields.
  const isAtField = isAnswering ? fieldProblems !== undefined : isOfCompletion(fieldProblems);
  const byHand = {
    ...{ draft, busy },
    onClose: () => {
      input(byHandKey.open, false);
      focusAsk(askId); // the pressed button is gone
    },
  };
  return (
    <SecretsContext value={secrets}>
      <AskCard
        {...{ askId, serverName, toolNames, resourceUri, busy }}
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
            <AllowActions {...allowing} {...{ canSend, ready }} onApprove={approve} />
          ) : (
            <>
              <SplitButton
                kind="primary"
                label={l10n.t("Approve & Send")}
                moreLabel={l10n.t("More Ways to Approve")}
                {...{ ready, busy }}
                disabled={!canSend}
                onClick={() => approve()}
                entries={[
                  ...(answering === undefined
                    ? []
                    : [
                        {
                          label: l10n.t("Approve and Allow…"),
                          about: l10n.t(
                            "Requests like this one then go without asking, within bounds that you set.",
                          ),
                          onChoose: () => input(grantKey.open, true),
                        },
                      ]),
                  {
                    label: l10n.t("Answer as the Model…"),
                    about: l10n.t("You write the completion, and no model is asked."),
                    onChoose: () => input(byHandKey.open, true),
                  },
                ]}
              />
              <DeclineButton {...{ serverName, ready, busy, onDecline, onCancel }} />
              <button {...editing.toggle} disabled={busy}>
                <Icon name="edit" />
                <span className="narrow-hidden">{l10n.t("Edit")}</span>
              </button>
            </>
          )
        }
      >
        {isAnswering ? (
          <>
            <Disclosure keep={`${keep}:request`} summary={summarize(request)} initiallyOpen>
              <SamplingDetails {...{ request, keep }} />
            </Disclosure>
            <AnswerAsModel {...byHand} problems={fieldProblems} onInput={input} />
          </>
        ) : (
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
                <SamplingDetails request={edited} keep={keep} />
              </Disclosure>
            )}
            {edit !== undefined && !isWrong && (
              <Disclosure
                keep={`${keep}:changes`}
                summary={l10n.t("What you changed")}
                initiallyOpen
              >
                <SamplingChanges asked={request} sent={edited} keep={keep} />
              </Disclosure>
            )}
            {edit !== undefined && (
              <button type="button" className="link" disabled={busy} onClick={() => reset()}>
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
              onRedact={(numbers) => setDraft(redact(request, draft, secrets, numbers))}
              onConfirm={found.confirm}
            />
            <AnsweringModel
              label={l10n.t("Answered by")}
              model={answering}
              {...{ candidates, away }}
              disabled={busy}
              onChoose={(id) => input(draftKey.model, id)}
            />
            {modelReason !== "" && answering !== undefined && answering.id === model?.id && (
              <p className="muted">{visible(modelReason)}</p>
            )}
            {warnings.map((warning) => (
              <p key={warning} className="notice notice-warning">
                <Icon name="warning" />
                <span>{visible(warning)}</span>
              </p>
            ))}
            {isAllowing && (
              <ApproveAndAllow {...allowing} problems={fieldProblems} onInput={input} />
            )}
          </>
        )}
      </AskCard>
    </SecretsContext>
  );
}

/** The choice of the model, of the context and of a grant, and the person's own completion, do not change the request. */
function isOfEdit(key: string): boolean {
  return key !== draftKey.model && key !== draftKey.context && !isOfGrant(key) && !isOfByHand(key);
}

/** The request that is sent depends on these. They are shorter to compare than a request with images. */
function isOfContent(key: string): boolean {
  return key === draftKey.context || (isOfEdit(key) && key !== draftKey.editing);
}
