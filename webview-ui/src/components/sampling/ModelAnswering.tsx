import type { Ask, McpSampling } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { Markdown } from "../content/Markdown.tsx";
import { FlowDiagram, SamplingFlow } from "../flow/SamplingFlow.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { StopModel } from "./StopModel.tsx";

export interface ModelAnsweringProps {
  readonly taskId: string;
  readonly ask: Ask;
  readonly question: McpSampling;
  /** A review shows what happened to the answer. */
  readonly reviewed: boolean;
  readonly actions: Actions;
  readonly keep: string;
}

/** The model's text so far for an approved request, or the reason why the server got no answer. */
export function ModelAnswering(props: ModelAnsweringProps) {
  const { taskId, ask, question, reviewed, actions, keep } = props;
  const { model, progress, inReview = false, result } = question;
  const reason = ask.outcome?.reason;
  if (reason !== "answered" && reason !== "granted") return null;
  if (result?.type === "failure") return <Refusal message={result.reason} />;
  if (result?.type === "withheld" && !reviewed) {
    return (
      <p className="muted">
        {l10n.t("Assent told the server that you declined. {0}", result.reason)}
      </p>
    );
  }
  if (result !== undefined) return null;
  const name = visible(model?.name ?? l10n.t("The model"));
  const { text = "" } = progress ?? {};
  const stop = (keepText: boolean) =>
    actions.stopSampling({ taskId, askId: ask.askId, ...(keepText && { keep: true }) });
  return (
    <>
      {inReview ? null : (
        <div className="answer" aria-busy="true">
          <p className="turn-role">
            <Icon name="loading" spin />
            <span>
              {text === "" ? l10n.t("{0} was asked", name) : l10n.t("{0} is answering", name)}
            </span>
          </p>
          {text !== "" && <Markdown text={text} />}
          <StopModel hasText={text.trim() !== ""} onStop={stop} />
        </div>
      )}
      {!inReview && <SamplingFlow ask={ask} />}
      <FlowDiagram ask={ask} keep={keep} />
    </>
  );
}
