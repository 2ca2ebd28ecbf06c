import type {
  ContentBlock,
  Model,
  McpSamplingReview as Question,
  SamplingTool,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { answererOf, stopped } from "../../timeline/sampling.ts";
import { useDraft } from "../../view/useDraft.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";
import { AcceptButton } from "../ask/AcceptButton.tsx";
import { AskCard } from "../ask/AskCard.tsx";
import { DeclineButton } from "../ask/DeclineButton.tsx";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { useEditing } from "../ask/useEditing.ts";
import { useReading } from "../ask/useReading.ts";
import { useTexts } from "../content/useTexts.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { AnswerChanges } from "./AnswerChanges.tsx";
import { AnsweringModel, candidatesOf } from "./AnsweringModel.tsx";
import { ReviewedBlocks } from "./ReviewedBlocks.tsx";
import { reviewKey, reviewOf } from "./reviewDraft.ts";

export interface McpSamplingReviewProps {
  readonly askId: string;
  readonly question: Question;
  /** The tools that the server offered to the model; undefined if the request is not loaded. */
  readonly tools?: readonly SamplingTool[] | undefined;
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
  /** The person returns the model's answer, perhaps edited. */
  readonly onReturn: (content?: readonly ContentBlock[]) => void;
  /** The person requests another answer: from the model with this id, or without an id from the same one. */
  readonly onRegenerate: (modelId?: string) => void;
  /** The person declined. The server does not get the answer. */
  readonly onDecline: () => void;
  /** The person dismissed it. The server does not get the answer either. */
  readonly onCancel: () => void;
  readonly keep: string;
}

/** A model's answer, which the person reviews before the server gets it. */
export function McpSamplingReview(props: McpSamplingReviewProps) {
  const { askId, question, tools, models, away, busy, refusal, keep } = props;
  const { onDraft, onReturn, onRegenerate, onDecline, onCancel } = props;
  const {
    serverName,
    toolNames = [],
    resourceUri,
    model,
    samplingResponse: response,
    problem = "",
  } = question;
  const reading = useReading();
  const ready = useClickGuard("asked", reading.state) && !busy;
  const [draft, setDraft] = useDraft(props.draft, onDraft);
  const input = (key: string, value: FieldInput) => setDraft({ ...draft, [key]: value });
  const reviewed = reviewOf(response, draft);
  // A problem stays visible, because it prevents returning the answer.
  const isEditing =
    own(draft, reviewKey.editing) === true ||
    reviewed.blocks.some(({ problem }) => problem !== undefined);
  const editing = useEditing(isEditing, (now) => input(reviewKey.editing, now));
  const [texts, toggle] = useTexts(`${keep}:answer`);
  const { content = [] } = response;
  const canEdit = content.some(({ type }) => type === "text" || type === "tool_use");
  const isChanged = reviewed.content !== undefined || reviewed.isWrong;
  const reset = () => setDraft({ ...pick(draft, reviewKey.model), [reviewKey.editing]: isEditing });

  const candidates = candidatesOf(model, models);
  const chosen = own(draft, reviewKey.model);
  const next = candidates.find(({ id }) => id === chosen) ?? model ?? candidates[0];
  return (
    <AskCard
      {...{ askId, serverName, toolNames, resourceUri, reading, busy }}
      icon="eye"
      does={l10n.t("Review the answer for {0}")}
      problems={
        <>
          {reviewed.problem !== undefined && (
            <p role="alert" className="field-problem">
              {reviewed.problem}
            </p>
          )}
          {refusal !== undefined && <Refusal message={refusal} />}
        </>
      }
      actions={
        <>
          <AcceptButton
            label={l10n.t("Return to Server")}
            {...{ reading, ready, busy }}
            disabled={reviewed.isWrong}
            onClick={() => onReturn(reviewed.content)}
          />
          <DeclineButton {...{ serverName, ready, busy, onDecline, onCancel }} />
          {canEdit && (
            <button {...editing.toggle} disabled={busy}>
              <Icon name="edit" />
              <span className="narrow-hidden">{l10n.t("Edit")}</span>
            </button>
          )}
          {next !== undefined && (
            <AskAgain
              {...{ ready, busy }}
              onClick={() => onRegenerate(next.id === model?.id ? undefined : next.id)}
            />
          )}
        </>
      }
      below={
        <AnsweringModel
          label={l10n.t("Another answer by")}
          model={next}
          {...{ candidates, away }}
          disabled={busy}
          onChoose={(id) => input(reviewKey.model, id)}
        />
      }
    >
      {problem !== "" && (
        <p role="status" className="notice notice-warning">
          <Icon name="warning" />
          <span>{problem}</span>
        </p>
      )}
      <div ref={editing.fields} className="answer">
        <p className="turn-role">
          <span>{answererOf(model, response)}</span>
          <span className="muted">{stopped(response)}</span>
          {!isEditing && toggle}
        </p>
        <ReviewedBlocks
          {...{ tools, texts, isEditing }}
          blocks={reviewed.blocks}
          disabled={busy}
          onInput={input}
          onKeyDown={editing.onKeyDown}
          keep={`${keep}:answer`}
        />
      </div>
      {reviewed.content !== undefined && !reviewed.isWrong && (
        <Disclosure keep={`${keep}:changes`} summary={l10n.t("What you changed")} initiallyOpen>
          <AnswerChanges written={content} sent={reviewed.content} keep={keep} />
        </Disclosure>
      )}
      {isChanged && (
        <button type="button" className="link" disabled={busy} onClick={reset}>
          {l10n.t("Undo all changes")}
        </button>
      )}
    </AskCard>
  );
}

interface AskAgainProps {
  readonly ready: boolean;
  readonly busy: boolean;
  readonly onClick: () => void;
}

function AskAgain({ ready, busy, onClick }: AskAgainProps) {
  return (
    <button
      type="button"
      className="secondary with-icon"
      title={l10n.t("Ask for another answer")}
      aria-disabled={!ready}
      disabled={busy}
      onClick={() => {
        if (ready) onClick();
      }}
    >
      <Icon name="refresh" />
      <span className="narrow-hidden">{l10n.t("Ask Again")}</span>
    </button>
  );
}

function pick(draft: Draft, key: string): Draft {
  const value = own(draft, key);
  return value === undefined ? {} : { [key]: value };
}
