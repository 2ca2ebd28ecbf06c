import type { McpSamplingReview, Outcome } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { filled } from "../../l10n.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { visible } from "../ui/visible.ts";
import { AnswerChanges } from "./AnswerChanges.tsx";
import { ContentBlocks } from "./ContentBlocks.tsx";
import { during } from "./during.ts";
import { OutcomeLine } from "./OutcomeLine.tsx";
import { SettledAsk } from "./SettledAsk.tsx";

export interface SamplingReviewRecordProps {
  readonly askId: string;
  readonly question: McpSamplingReview;
  readonly outcome: Outcome;
  readonly keep: string;
}

/** A model's answer and the person's changes to it, after the review. */
export function SamplingReviewRecord(props: SamplingReviewRecordProps) {
  const { askId, question, outcome, keep } = props;
  const { serverName, model, samplingResponse, sentResponse } = question;
  return (
    <SettledAsk
      askId={askId}
      head={
        <>
          {filled(
            outcome.reason === "answered"
              ? l10n.t("{0} got this answer")
              : l10n.t("{0} did not get this answer"),
            <span className="name">{serverName}</span>,
          )}{" "}
          <span className="muted">{during(question)}</span>
        </>
      }
    >
      <OutcomeLine
        outcome={outcome}
        yes={sentResponse === undefined ? l10n.t("Returned") : l10n.t("Returned with changes")}
        no={l10n.t("Declined")}
      />
      {outcome.reason === "regenerated" && model !== undefined && (
        <p className="muted">{l10n.t("{0} was asked for it.", visible(model.name))}</p>
      )}
      <Disclosure keep={`${keep}:reviewed`} summary={l10n.t("What the model wrote")}>
        <ContentBlocks
          blocks={samplingResponse.content ?? []}
          texts="markdown"
          keep={`${keep}:answer`}
        />
      </Disclosure>
      {sentResponse !== undefined && (
        <Disclosure
          keep={`${keep}:changes`}
          summary={l10n.t("What was changed before it was returned")}
        >
          <AnswerChanges
            written={samplingResponse.content ?? []}
            sent={sentResponse.content ?? []}
            keep={keep}
          />
        </Disclosure>
      )}
    </SettledAsk>
  );
}
