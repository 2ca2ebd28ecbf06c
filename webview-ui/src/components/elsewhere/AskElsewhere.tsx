import type { Ask, UseMcpServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { filled } from "../../l10n.ts";
import type { Draft } from "../../viewState.ts";
import { AskMessage } from "../chat/AskMessage.tsx";
import { during } from "../chat/during.ts";
import { Typed } from "../chat/ElicitationSummary.tsx";
import { askElementId, parkedFocus } from "../chat/focus.ts";
import { titleOf } from "../form/FieldFrame.tsx";
import { wanted } from "../inbox/OpenAskLine.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { json } from "../ui/words.ts";
import { ContinueHere } from "./ContinueHere.tsx";
import { useAway } from "./ElsewhereContext.ts";

export interface AskElsewhereProps {
  readonly ask: Ask;
  readonly draft: Draft | undefined;
  /** Why an answer was refused that was given here in the moment in which the task went away. */
  readonly refusal: string | undefined;
}

/** An open ask of a task that is live in another window. It is shown here, and answered there. */
export function AskElsewhere({ ask, draft, refusal }: AskElsewhereProps) {
  const { askId, question, inputKey } = ask;
  const { serverName } = question;
  const headingId = useId();
  const stateId = useId();
  const gone = useAway()?.elsewhere.gone === true;
  const { icon, words } = wanted(question.type);
  return (
    <section
      id={askElementId(askId)}
      className="ask-card ask-elsewhere"
      aria-labelledby={headingId}
      {...parkedFocus}
    >
      <header className="ask-head">
        <Icon name={icon} />
        <div className="ask-who">
          <h2 id={headingId}>{filled(words, <span className="name">{serverName}</span>)}</h2>
          <p className="muted">{during(question)}</p>
        </div>
      </header>
      <div className="ask-body">
        <AskMessage {...{ askId, serverName }} text={about(question)} />
        {question.type === "mcp_elicitation" && (
          <>
            <p className="muted">
              {(question.elicitationRequest.fields ?? []).map(titleOf).join(", ")}
            </p>
            {draft !== undefined && (
              <Typed
                intro={l10n.t("Typed so far:")}
                fields={question.elicitationRequest.fields ?? []}
                draft={draft}
              />
            )}
          </>
        )}
        <p id={stateId} className="ask-waits">
          <Icon name="multiple-windows" />
          <span>
            {gone ? l10n.t("Its window is gone.") : l10n.t("Waits in another window.")}
            {inputKey === undefined && (
              <>
                {" "}
                {l10n.t(
                  "It ends unanswered if you continue here: its server does not wait for this window.",
                )}
              </>
            )}
          </span>
        </p>
      </div>
      <div className="ask-problems">{refusal !== undefined && <Refusal message={refusal} />}</div>
      <div className="ask-actions actions">
        <ContinueHere describedBy={stateId} />
      </div>
    </section>
  );
}

/** What the server wants, in its own words. */
function about(question: UseMcpServer): string {
  switch (question.type) {
    case "mcp_elicitation":
      return question.elicitationRequest.message;
    case "mcp_url_elicitation":
      return question.message;
    case "mcp_sampling":
      return (question.samplingRequest.messages ?? []).flatMap(textsOf).at(-1) ?? "";
    case "mcp_sampling_review":
      return textsOf(question.samplingResponse).join("\n\n");
    case "use_mcp_tool":
      return `${question.tool.name} ${json(question.arguments)}`;
    case "access_mcp_resource":
      return question.uri;
    case "repeat_mcp_call":
      return question.reason;
  }
}

function textsOf({
  content = [],
}: {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}): readonly string[] {
  return content.flatMap(({ type, text }) => (type === "text" && text ? [text] : []));
}
