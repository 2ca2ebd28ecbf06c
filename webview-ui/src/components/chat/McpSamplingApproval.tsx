import type { McpSamplingRequest, Model } from "@assent/protocol";
import { useId, useState } from "react";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { AskCard } from "./AskCard.tsx";
import { SamplingDetails, summarize } from "./SamplingDetails.tsx";
import { useArmed } from "./useArmed.ts";

export interface McpSamplingApprovalProps {
  readonly askId: string;
  readonly serverName: string;
  readonly toolNames: readonly string[];
  readonly request: McpSamplingRequest;
  /** The model that the sidecar proposes; absent where there was none. */
  readonly model: Model | undefined;
  /** The models to choose from; absent until they were listed. */
  readonly models: readonly Model[] | undefined;
  /** The model that was chosen in an earlier life of the view. */
  readonly chosenModelId: string | undefined;
  readonly onChooseModel: (modelId: string) => void;
  /** An answer is under way: until it is confirmed or refused, there is no second one. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The person lets the request go to a model; to another than the proposed one where it says so. */
  readonly onApprove: (modelId?: string) => void;
  /** The person said no. */
  readonly onDeny: () => void;
  /** The person put the request away and said nothing. */
  readonly onCancel: () => void;
  readonly keep: string;
}

/** A server's request to a model, as long as it waits for approval. */
export function McpSamplingApproval(props: McpSamplingApprovalProps) {
  const { askId, serverName, toolNames, request, model, models, busy, refusal, keep } = props;
  const { chosenModelId, onChooseModel, onApprove, onDeny, onCancel } = props;
  const ready = useArmed() && !busy;
  const whenReady = (act: () => void) => () => {
    if (ready) act();
  };
  const [chosen, setChosen] = useState(chosenModelId);
  const candidates = candidatesOf(model, models);
  const answering = candidates.find(({ id }) => id === chosen) ?? model ?? candidates[0];
  const nobody = answering === undefined && models !== undefined;
  const approve = () => onApprove(answering?.id === model?.id ? undefined : answering?.id);
  return (
    <AskCard
      {...{ askId, serverName, toolNames, busy, ready }}
      icon="sparkle"
      does="wants a completion"
      onCancel={whenReady(onCancel)}
    >
      <p className="muted">{summarize(request)}</p>
      <Disclosure keep={`${keep}:request`} summary="The whole request" initiallyOpen>
        <SamplingDetails request={request} keep={keep} />
      </Disclosure>
      <AnsweringModel
        model={answering}
        candidates={candidates}
        nobody={nobody}
        disabled={busy}
        onChoose={(id) => {
          setChosen(id);
          onChooseModel(id);
        }}
      />
      {refusal !== undefined && <Refusal message={refusal} />}
      <div className="actions">
        <button
          type="button"
          className="primary"
          aria-disabled={!ready}
          disabled={nobody || busy}
          onClick={whenReady(approve)}
        >
          Approve & Send
        </button>
        <button
          type="button"
          className="secondary"
          aria-disabled={!ready}
          disabled={busy}
          onClick={whenReady(onDeny)}
        >
          Deny
        </button>
      </div>
    </AskCard>
  );
}

interface AnsweringModelProps {
  readonly model: Model | undefined;
  readonly candidates: readonly Model[];
  /** There is no model, and that is known. */
  readonly nobody: boolean;
  readonly disabled: boolean;
  readonly onChoose: (modelId: string) => void;
}

function AnsweringModel(props: AnsweringModelProps) {
  const { model, candidates, nobody, disabled, onChoose } = props;
  const id = useId();
  if (nobody) {
    return (
      <p role="status" className="refusal">
        No model can answer. Set one up in the settings, or deny the request.
      </p>
    );
  }
  if (candidates.length < 2) {
    return model === undefined ? null : (
      <p>
        <span className="muted">Answered by </span>
        {model.name}
      </p>
    );
  }
  return (
    <div className="field">
      <label htmlFor={id}>Answered by</label>
      <select
        id={id}
        disabled={disabled}
        value={model?.id}
        onChange={(event) => onChoose(event.target.value)}
      >
        {candidates.map((candidate) => (
          <option key={candidate.id} value={candidate.id}>
            {candidate.name}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The proposed model is always to be had, whatever the list says by now. */
function candidatesOf(model: Model | undefined, models: readonly Model[] = []): readonly Model[] {
  return model === undefined || models.some(({ id }) => id === model.id)
    ? models
    : [model, ...models];
}
