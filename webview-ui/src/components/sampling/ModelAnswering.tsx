import type { Ask, McpSampling } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useLayoutEffect, useRef, useState } from "react";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { Markdown } from "../content/Markdown.tsx";
import { FlowDiagram, SamplingFlow } from "../flow/SamplingFlow.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { useAfterPress } from "../ui/useAfterPress.ts";
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
      {!inReview && <TextSoFar name={name} text={text} onStop={stop} />}
      {!inReview && <SamplingFlow ask={ask} />}
      <FlowDiagram ask={ask} keep={keep} />
    </>
  );
}

interface TextSoFarProps {
  readonly name: string;
  readonly text: string;
  readonly onStop: (keep: boolean) => Promise<void>;
}

/** The text as it grows, which moves the buttons below it. */
function TextSoFar({ name, text, onStop }: TextSoFarProps) {
  const [shown, setShown] = useState(text);
  const afterPress = useAfterPress();
  const latest = useRef(text); // more may come before the press is over
  useLayoutEffect(() => {
    latest.current = text;
    afterPress(() => setShown(latest.current));
  }, [text, afterPress]);
  return (
    <div className="answer" aria-busy="true">
      <p className="turn-role">
        <Icon name="loading" spin />
        <span>
          {shown === "" ? l10n.t("{0} was asked", name) : l10n.t("{0} is answering", name)}
        </span>
      </p>
      {shown !== "" && <Markdown text={shown} />}
      <StopModel hasText={shown.trim() !== ""} onStop={onStop} />
    </div>
  );
}
