import type {
  McpSampling,
  McpSamplingResponse,
  Model,
  Outcome,
  SamplingResult,
} from "@assent/protocol";
import { useId } from "react";
import { unreachable } from "../../unreachable.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { during } from "./AskCard.tsx";
import { ContentBlocks } from "./ContentBlocks.tsx";
import { askElementId, parkedFocus } from "./focus.ts";
import { Markdown } from "./Markdown.tsx";
import { OutcomeLine } from "./OutcomeLine.tsx";
import { SamplingDetails, summarize } from "./SamplingDetails.tsx";

export interface SamplingRecordProps {
  readonly askId: string;
  readonly question: McpSampling;
  readonly outcome: Outcome;
  readonly keep: string;
}

/** A sampling request that is settled: what was sent, and what the model writes or wrote. */
export function SamplingRecord({ askId, question, outcome, keep }: SamplingRecordProps) {
  const { serverName, toolNames = [], samplingRequest } = question;
  const headingId = useId();
  return (
    <section
      id={askElementId(askId)}
      className="settled"
      aria-labelledby={headingId}
      {...parkedFocus}
    >
      <h2 id={headingId} className="settled-head">
        <span className="name">{serverName}</span> wanted a completion{" "}
        {toolNames.length > 0 && <span className="muted">{during(toolNames)}</span>}
      </h2>
      <OutcomeLine outcome={outcome} yes="Approved" no="Denied" />
      <Disclosure keep={`${keep}:sent`} summary={summarize(samplingRequest)}>
        <SamplingDetails request={samplingRequest} keep={keep} />
      </Disclosure>
      {outcome.reason === "answered" && <Answer question={question} keep={keep} />}
    </section>
  );
}

function Answer({ question, keep }: { readonly question: McpSampling; readonly keep: string }) {
  const { model, progress, result } = question;
  if (result !== undefined) return <Ending {...{ model, result, keep }} />;
  return (
    <div className="answer" aria-busy="true">
      <p className="turn-role">
        <Icon name="loading" spin />
        <span>
          {model?.name ?? "The model"} {progress === undefined ? "was asked" : "is answering"}
        </span>
      </p>
      {progress !== undefined && <Markdown text={progress.text} />}
    </div>
  );
}

interface EndingProps {
  readonly model: Model | undefined;
  readonly result: SamplingResult;
  readonly keep: string;
}

function Ending({ model, result, keep }: EndingProps) {
  switch (result.type) {
    case "response":
      return (
        <div className="answer">
          <p className="turn-role">
            <span>{answerer(model, result)}</span>
            <span className="muted">{stopped(result)}</span>
          </p>
          <ContentBlocks blocks={[result.content]} texts="markdown" keep={`${keep}:answer`} />
        </div>
      );
    case "failure":
      return <Refusal message={result.reason} />;
    default:
      return unreachable(result);
  }
}

/** The provider's word for its model; but what is no model must not be named like one. */
function answerer(model: Model | undefined, response: McpSamplingResponse): string {
  return model?.provider === "demo" ? model.name : response.model;
}

function stopped({ stopReason }: McpSamplingResponse): string {
  switch (stopReason) {
    case undefined:
    case "":
    case "endTurn":
      return "";
    case "maxTokens":
      return "was cut off at the token limit";
    case "stopSequence":
      return "stopped at a stop sequence";
    default:
      return `stopped: ${stopReason}`;
  }
}
