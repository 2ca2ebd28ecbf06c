import type { McpSamplingReview, Outcome } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import { answererOf, stopped } from "../../timeline/sampling.ts";
import { isOneLine } from "../../timeline/subject.ts";
import { ContentBlocks } from "../content/ContentBlocks.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { AnswerChanges } from "./AnswerChanges.tsx";

export interface ReviewDetailsProps {
  readonly question: McpSamplingReview;
  readonly outcome: Outcome;
  readonly keep: string;
}

/** What a server got and who wrote it: the model, or the person, with their changes. */
export function ReviewDetails({ question, outcome, keep }: ReviewDetailsProps) {
  const { model, samplingResponse, sentResponse } = question;
  const written = samplingResponse.content ?? [];
  // The step's line shows a short answer in full.
  const isTold = sentResponse === undefined && isOneLine(written);
  const blocks = <ContentBlocks blocks={written} texts="markdown" keep={`${keep}:answer`} />;
  return (
    <>
      {sentResponse === undefined ? (
        <div className="answer">
          <p className="turn-role">
            <span>{answererOf(model, samplingResponse)}</span>
            <span className="muted">{stopped(samplingResponse)}</span>
          </p>
          {!isTold && blocks}
        </div>
      ) : (
        <>
          <p className="muted">{l10n.t("What you changed:")}</p>
          <AnswerChanges {...{ written, keep }} sent={sentResponse.content ?? []} />
          <Disclosure
            keep={`${keep}:written`}
            summary={l10n.t("What {0} wrote", answererOf(model, samplingResponse))}
          >
            {blocks}
          </Disclosure>
        </>
      )}
      {outcome.reason === "regenerated" && model !== undefined && (
        <p className="muted">
          {l10n.t("Another answer was requested from {0}.", visible(model.name))}
        </p>
      )}
    </>
  );
}
