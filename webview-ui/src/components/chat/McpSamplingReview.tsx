import type { Model, McpSamplingReview as Question } from "@assent/protocol";
import { type Draft, type FieldInput, own } from "../../viewState.ts";
import { Clamp } from "../ui/Clamp.tsx";
import { Diff } from "../ui/Diff.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { AnsweringModel, candidatesOf } from "./AnsweringModel.tsx";
import { AskCard } from "./AskCard.tsx";
import { ContentBlocks } from "./ContentBlocks.tsx";
import { TextField } from "./SamplingEditor.tsx";
import { answerer, stopped } from "./SamplingRecord.tsx";
import { useArmed } from "./useArmed.ts";
import { useDraft } from "./useDraft.ts";
import { useEditing } from "./useEditing.ts";

export interface McpSamplingReviewProps {
  readonly askId: string;
  readonly question: Question;
  /** The models to choose from; absent until they were listed. */
  readonly models: readonly Model[] | undefined;
  /** What was chosen and typed in an earlier life of the view. */
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft) => void;
  /** An answer is under way: until it is confirmed or refused, there is no second one. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The server gets what the model wrote, or the text that the person made of it. */
  readonly onReturn: (text?: string) => void;
  /** A model is to answer anew; another than the one that answered where it says so. */
  readonly onRegenerate: (modelId?: string) => void;
  /** The server does not get it. */
  readonly onWithhold: () => void;
  /** The person put it away and said nothing; the server does not get it either. */
  readonly onCancel: () => void;
  readonly keep: string;
}

/** What a model answered, before the server that asked for it gets it. */
export function McpSamplingReview(props: McpSamplingReviewProps) {
  const { askId, question, models, busy, refusal, keep } = props;
  const { onDraft, onReturn, onRegenerate, onWithhold, onCancel } = props;
  const {
    serverName,
    toolNames = [],
    resourceUri,
    model,
    samplingResponse: response,
    problem = "",
  } = question;
  const ready = useArmed() && !busy;
  const whenReady = (act: () => void) => () => {
    if (ready) act();
  };
  const [draft, setDraft] = useDraft(props.draft, onDraft);
  const input = (key: string, value: FieldInput) => setDraft({ ...draft, [key]: value });
  const isEditing = own(draft, "editing") === true;
  const editing = useEditing(isEditing, (now) => input("editing", now));
  const { content = [] } = response;
  const written = content[0]?.type === "text" ? content[0].text : undefined;
  const typed = own(draft, "text");
  const text = typeof typed === "string" ? typed : written;
  const isChanged = text !== written;
  const isEmpty = isChanged && text?.trim() === "";

  const candidates = candidatesOf(model, models);
  const chosen = own(draft, "model");
  const next = candidates.find(({ id }) => id === chosen) ?? model ?? candidates[0];
  return (
    <AskCard
      {...{ askId, serverName, toolNames, resourceUri, busy, ready }}
      icon="eye"
      does="is to get this answer"
      onCancel={whenReady(onCancel)}
    >
      {problem !== "" && (
        <p role="status" className="notice notice-warning">
          <Icon name="warning" />
          <span>{problem}</span>
        </p>
      )}
      <div className="answer">
        <p className="turn-role">
          <span>{answerer(model, response)}</span>
          <span className="muted">{stopped(response)}</span>
        </p>
        {isEditing && text !== undefined ? (
          <TextField
            label="What the server gets"
            value={text}
            disabled={busy}
            onInput={(value) => input("text", value)}
            onKeyDown={editing.onKeyDown}
          />
        ) : (
          <ContentBlocks
            blocks={text === undefined ? content : [{ type: "text", text }]}
            texts="markdown"
            keep={`${keep}:answer`}
          />
        )}
      </div>
      {isEmpty && (
        <p role="alert" className="field-problem">
          An empty text is no answer: withhold it instead.
        </p>
      )}
      {isChanged && written !== undefined && text !== undefined && (
        <Disclosure keep={`${keep}:changes`} summary="What you changed" initiallyOpen>
          <Clamp keep={`${keep}:diff`} text={written + text}>
            <Diff before={written} after={text} />
          </Clamp>
        </Disclosure>
      )}
      {refusal !== undefined && <Refusal message={refusal} />}
      <div className="actions">
        <button
          type="button"
          className="primary"
          aria-disabled={!ready}
          disabled={busy || isEmpty}
          onClick={whenReady(() => onReturn(isChanged ? text : undefined))}
        >
          Return to Server
        </button>
        <button
          type="button"
          className="secondary"
          aria-disabled={!ready}
          disabled={busy}
          onClick={whenReady(onWithhold)}
        >
          Withhold
        </button>
        {written !== undefined && (
          <button {...editing.toggle} disabled={busy}>
            Edit
          </button>
        )}
        {isChanged && (
          <button
            type="button"
            className="link"
            disabled={busy}
            onClick={() => written !== undefined && input("text", written)}
          >
            Undo all changes
          </button>
        )}
      </div>
      <AnsweringModel
        label="Another answer by"
        model={next}
        candidates={candidates}
        nobody={false}
        disabled={busy}
        onChoose={(id) => input("model", id)}
      />
      {next !== undefined && (
        <div className="actions">
          <button
            type="button"
            className="secondary"
            aria-disabled={!ready}
            disabled={busy}
            onClick={whenReady(() => onRegenerate(next.id === model?.id ? undefined : next.id))}
          >
            Ask Again
          </button>
        </div>
      )}
    </AskCard>
  );
}
