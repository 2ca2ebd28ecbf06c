import type { Model } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { visible } from "../../lib/visible.ts";

export interface AnsweringModelProps {
  /** The label of the choice. */
  readonly label: string;
  readonly model: Model | undefined;
  readonly candidates: readonly Model[];
  /** Why VS Code's models are missing. */
  readonly away: string | undefined;
  readonly disabled: boolean;
  readonly onChoose: (modelId: string) => void;
}

/** The answering model, or the choice of it, with the missing models. */
export function AnsweringModel(props: AnsweringModelProps) {
  return (
    <>
      <ModelOrChoice {...props} />
      {props.away !== undefined && <p className="muted">{visible(props.away)}</p>}
    </>
  );
}

function ModelOrChoice(props: AnsweringModelProps) {
  const { label, model, candidates, disabled, onChoose } = props;
  const id = useId();
  if (candidates.length < 2) {
    return model === undefined ? null : (
      <p>
        <span className="muted">{label} </span>
        {visible(model.name)}
      </p>
    );
  }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
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

/** Says that no model can answer. */
export function NoModel() {
  return (
    <p role="status" className="refusal">
      {l10n.t("No model can answer. Set one up in the settings, or decline the request.")}
    </p>
  );
}

/** Returns the models to choose from. The proposed one is always included, even if it has left the list. */
export function candidatesOf(
  model: Model | undefined,
  models: readonly Model[] = [],
): readonly Model[] {
  return model === undefined || models.some(({ id }) => id === model.id)
    ? models
    : [model, ...models];
}
