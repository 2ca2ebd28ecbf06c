import type { ModelMessage } from "@assent/protocol";
import { Markdown } from "./Markdown.tsx";

export interface ModelRowProps {
  readonly said: ModelMessage;
}

/** What a model said. */
export function ModelRow({ said }: ModelRowProps) {
  const { model, text = "", progress, end } = said;
  return (
    <div className="turn">
      <p className="turn-role">{model?.name ?? "Model"}</p>
      <Markdown text={progress?.text ?? text} />
      {end?.detail !== undefined && <p className="muted">{end.detail}</p>}
    </div>
  );
}
