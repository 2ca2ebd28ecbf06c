import type {
  McpSampling,
  McpSamplingResponse,
  Model,
  Outcome,
  SamplingResult,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { filled } from "../../l10n.ts";
import { unreachable } from "../../unreachable.ts";
import { useAway } from "../elsewhere/ElsewhereContext.ts";
import { useGrant } from "../grants/GrantsContext.ts";
import { isAlive } from "../grants/grantWords.ts";
import { RevokeGrant } from "../grants/RevokeGrant.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { visible } from "../ui/visible.ts";
import { ContentBlocks } from "./ContentBlocks.tsx";
import { during } from "./during.ts";
import { focusAsk } from "./focus.ts";
import { Markdown } from "./Markdown.tsx";
import { OutcomeLine } from "./OutcomeLine.tsx";
import { SamplingChanges } from "./SamplingChanges.tsx";
import { SamplingDetails } from "./SamplingDetails.tsx";
import { SamplingUsageLine } from "./SamplingUsageLine.tsx";
import { SettledAsk } from "./SettledAsk.tsx";
import { StopModel } from "./StopModel.tsx";
import { summarize } from "./samplingMeasure.ts";

export interface SamplingRecordProps {
  readonly askId: string;
  readonly question: McpSampling;
  readonly outcome: Outcome;
  /**
   * Stops the model that is answering. With keep, the text so far becomes its answer. Rejects if the model
   * cannot be stopped.
   */
  readonly onStop: (keep: boolean) => Promise<void>;
  /** Ends the grant that approved it; rejects where that goes on. */
  readonly onRevoke?: (() => Promise<void>) | undefined;
  readonly keep: string;
}

/** A settled sampling request, with the sent request and the model's text so far. */
export function SamplingRecord(props: SamplingRecordProps) {
  const { askId, question, outcome, onStop, onRevoke, keep } = props;
  const grant = useGrant(outcome.grantId);
  const revoke = async () => {
    await onRevoke?.();
    focusAsk(askId); // the button is gone
  };
  const { serverName, samplingRequest, sentRequest, usage } = question;
  const sent = sentRequest ?? samplingRequest;
  return (
    <SettledAsk
      askId={askId}
      head={
        <>
          {filled(l10n.t("{0} wanted a completion"), <span className="name">{serverName}</span>)}{" "}
          <span className="muted">{during(question)}</span>
        </>
      }
    >
      <OutcomeLine outcome={outcome} yes={l10n.t("Approved")} no={l10n.t("Declined")} />
      {onRevoke !== undefined && grant !== undefined && isAlive(grant, Date.now()) && (
        <RevokeGrant of={l10n.t("the grant that approved this")} onRevoke={revoke} />
      )}
      <Disclosure keep={`${keep}:sent`} summary={summarize(sent)}>
        <SamplingDetails request={sent} keep={keep} />
      </Disclosure>
      {sentRequest !== undefined && (
        <Disclosure
          keep={`${keep}:changes`}
          summary={l10n.t("What was changed before it was sent")}
        >
          <SamplingChanges asked={samplingRequest} sent={sentRequest} keep={keep} />
        </Disclosure>
      )}
      {isApproved(outcome) && <Answer {...{ question, onStop, keep }} />}
      {usage !== undefined && <SamplingUsageLine usage={usage} />}
    </SettledAsk>
  );
}

/** A model was asked, by a person's word or by that of a grant of theirs. */
function isApproved({ reason }: Outcome): boolean {
  return reason === "answered" || reason === "granted";
}

interface AnswerProps {
  readonly question: McpSampling;
  readonly onStop: (keep: boolean) => Promise<void>;
  readonly keep: string;
}

function Answer({ question, onStop, keep }: AnswerProps) {
  const { model, progress, inReview = false, result } = question;
  const isHere = useAway() === undefined;
  const name = visible(model?.name ?? l10n.t("The model"));
  if (result !== undefined) return <Ending {...{ model, result, keep }} />;
  if (inReview) return <p>{l10n.t("{0} has answered. The server waits for your review.", name)}</p>;
  const { text = "" } = progress ?? {};
  return (
    <div className="answer" aria-busy="true">
      <p className="turn-role">
        <Icon name="loading" spin />
        <span>
          {text === "" ? l10n.t("{0} was asked", name) : l10n.t("{0} is answering", name)}
        </span>
      </p>
      {text !== "" && <Markdown text={text} />}
      {isHere && <StopModel hasText={text.trim() !== ""} onStop={onStop} />}
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
          <ContentBlocks blocks={result.content ?? []} texts="markdown" keep={`${keep}:answer`} />
        </div>
      );
    case "withheld":
      return (
        <p className="outcome">
          <Icon name="circle-slash" />
          <span>{l10n.t("The server was told that you declined. {0}", result.reason)}</span>
        </p>
      );
    case "failure":
      return <Refusal message={result.reason} />;
    default:
      return unreachable(result);
  }
}

/** Returns the provider's name for its model. The demo keeps its own name, since it is no model. */
export function answerer(model: Model | undefined, response: McpSamplingResponse): string {
  return visible(model?.provider === "demo" ? model.name : response.model);
}

/** Says why a model stopped writing; undefined if it ended by itself. */
export function stopped({ stopReason }: McpSamplingResponse): string {
  switch (stopReason) {
    case undefined:
    case "":
    case "endTurn":
      return "";
    case "maxTokens":
      return l10n.t("was cut off at the token limit");
    case "stopSequence":
      return l10n.t("stopped at a stop sequence");
    case "toolUse":
      return l10n.t("asks for tools to be called");
    case "userStopped":
      return l10n.t("was stopped by hand");
    default:
      return l10n.t("stopped: {0}", stopReason);
  }
}
