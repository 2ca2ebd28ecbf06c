import type { McpSampling } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { answererOf, stopped } from "../../timeline/sampling.ts";
import { isOneLine } from "../../timeline/subject.ts";
import { ContentBlocks } from "../content/ContentBlocks.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { SamplingChanges } from "./SamplingChanges.tsx";
import { SamplingDetails } from "./SamplingDetails.tsx";
import { SamplingUsageLine } from "./SamplingUsageLine.tsx";
import { summarize } from "./samplingMeasure.ts";

export interface RequestDetailsProps {
  readonly question: McpSampling;
  /** The review of the answer shows it. */
  readonly reviewed: boolean;
  readonly keep: string;
}

/** A sampling request: as sent, the person's changes, and the answer if no review shows it. */
export function RequestDetails({ question, reviewed, keep }: RequestDetailsProps) {
  const { samplingRequest, sentRequest, model, result, usage } = question;
  const sent = sentRequest ?? samplingRequest;
  const answer = result?.type === "response" && !reviewed ? result : undefined;
  const content = answer?.content ?? [];
  const ending = answer === undefined ? "" : stopped(answer);
  // The step's line shows a short answer in full.
  const isTold = isOneLine(content);
  return (
    <>
      {sentRequest !== undefined && (
        <>
          <p className="muted">{l10n.t("What you changed:")}</p>
          <SamplingChanges asked={samplingRequest} sent={sentRequest} keep={keep} />
        </>
      )}
      <Disclosure keep={`${keep}:sent`} summary={summarize(sent)}>
        <SamplingDetails request={sent} keep={keep} />
      </Disclosure>
      {answer !== undefined && (!isTold || ending !== "") && (
        <div className="answer">
          <p className="turn-role">
            <span>{answererOf(model, answer)}</span>
            <span className="muted">{ending}</span>
          </p>
          {!isTold && <ContentBlocks blocks={content} texts="markdown" keep={`${keep}:answer`} />}
        </div>
      )}
      {usage !== undefined && <SamplingUsageLine usage={usage} />}
    </>
  );
}
