import type { Ask, SamplingTool } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useMemo, useState } from "react";
import type { Models } from "../../store/servers.ts";
import type { Actions } from "../../store/session.ts";
import { unreachable } from "../../unreachable.ts";
import { useView } from "../../view/ViewContext.ts";
import { type Draft, own, parseDraft } from "../../viewState.ts";
import { useAnswer } from "../ask/useAnswer.ts";
import { RepeatCall } from "../call/RepeatCall.tsx";
import { ToolApproval } from "../call/ToolApproval.tsx";
import { McpElicitationForm } from "../elicitation/McpElicitationForm.tsx";
import { McpURLConsent } from "../elicitation/McpURLConsent.tsx";
import { typedBeforeKey } from "../elicitation/typedBefore.ts";
import { messagesOf, refusedProblems } from "../form/refusedProblems.ts";
import { McpSamplingApproval } from "../sampling/McpSamplingApproval.tsx";
import { McpSamplingReview } from "../sampling/McpSamplingReview.tsx";

export interface AskRowProps {
  readonly taskId: string;
  readonly ask: Ask;
  readonly models: Models;
  readonly actions: Actions;
  /** The tools of the request that led to the reviewed answer; undefined if that request is not loaded. */
  readonly offered?: readonly SamplingTool[] | undefined;
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
}

/** An open ask: its card, its draft, and its one answer. */
export function AskRow(props: AskRowProps) {
  const { taskId, ask, actions, offered, keep } = props;
  const { askId, question } = ask;
  const { models, away } = props.models.get(question.serverName) ?? {};
  const view = useView();
  const [opening, setOpening] = useState(false);
  const [filledIn, setFilledIn] = useState(false);
  const { busy, answer, act, refusal } = useAnswer((response) =>
    actions.answer({ taskId, askId, ...response }),
  );
  const problems = useMemo(() => refusedProblems(refusal), [refusal]);

  const ways = {
    onCancel: () => answer({ askResponse: "cancelButtonClicked" }),
    onDecline: () => answer({ askResponse: "noButtonClicked" }),
  };
  const declineAll = () => answer({ askResponse: "noButtonClicked", declineAll: true });
  // What this view remembers is never older than what the sidecar kept of it.
  const draft = view.draft(askId) ?? parseDraft(ask.draft);
  const onDraft = (next: Draft) => {
    view.setDraft(askId, next);
    actions.saveDraft(taskId, askId, next);
  };

  switch (question.type) {
    case "mcp_elicitation": {
      const { serverName, toolNames = [], resourceUri, elicitationRequest } = question;
      const key = typedBeforeKey(taskId, question);
      const typedBefore = draft === undefined ? view.draft(key) : undefined;
      const fillIn = (typed: Draft) => {
        view.setDraft(key, undefined);
        onDraft(typed);
        setFilledIn(true);
      };
      const form = (
        <McpElicitationForm
          // A form takes its draft when it is new.
          key={filledIn ? "filled in" : "as it came"}
          {...{ askId, serverName, toolNames, resourceUri, busy }}
          {...ways}
          request={elicitationRequest}
          onDeclineAll={declineAll}
          refusal={problems === undefined ? refusal?.message : undefined}
          problems={problems}
          {...{ draft, onDraft }}
          onAccept={(elicitationContent, secretFields) =>
            answer({
              askResponse: "yesButtonClicked",
              elicitationContent,
              ...(secretFields && { secretFields: [...secretFields] }),
            })
          }
        />
      );
      return (
        <>
          {typedBefore !== undefined && <TypedBefore onFillIn={() => fillIn(typedBefore)} />}
          {form}
        </>
      );
    }
    case "mcp_sampling": {
      const refusedSecrets = messagesOf(problems, "secrets");
      const {
        serverName,
        toolNames = [],
        resourceUri,
        samplingRequest,
        model,
        modelReason,
        grantReason,
        secrets,
        context,
      } = question;
      return (
        <McpSamplingApproval
          {...{ askId, serverName, toolNames, resourceUri, busy, keep }}
          {...{ model, modelReason, models, away, grantReason, secrets, context }}
          request={samplingRequest}
          refusal={refusedSecrets === undefined ? refusal?.message : undefined}
          refusedSecrets={refusedSecrets}
          fieldProblems={problems}
          {...{ draft, onDraft }}
          onApprove={(approval) => answer({ askResponse: "yesButtonClicked", ...approval })}
          onDecline={ways.onDecline}
          onCancel={ways.onCancel}
        />
      );
    }
    case "mcp_sampling_review":
      return (
        <McpSamplingReview
          {...{ askId, question, tools: offered, busy, models, away, keep }}
          refusal={refusal?.message}
          {...{ draft, onDraft }}
          onReturn={(samplingContent) =>
            answer({
              askResponse: "yesButtonClicked",
              ...(samplingContent === undefined ? {} : { samplingContent }),
            })
          }
          onRegenerate={(modelId) =>
            answer({
              askResponse: "regenerateButtonClicked",
              ...(modelId === undefined ? {} : { modelId }),
            })
          }
          onDecline={ways.onDecline}
          onCancel={ways.onCancel}
        />
      );
    case "mcp_url_elicitation": {
      const {
        serverName,
        toolNames = [],
        resourceUri,
        message,
        url,
        awaitsCompletion = false,
      } = question;
      const open = async () => {
        setOpening(true);
        try {
          const opened = await actions.openAskUrl({ taskId, askId });
          if (!opened) throw new Error(l10n.t("The page was not opened."));
        } finally {
          setOpening(false);
        }
        if (!awaitsCompletion) return true;
        // Kept like a draft, so that a page opened before a reload needs no second consent.
        view.setDraft(askId, { opened: true });
        return false;
      };
      return (
        <McpURLConsent
          {...{ askId, serverName, toolNames, resourceUri, message, url, opening, busy }}
          {...ways}
          waiting={awaitsCompletion && own(view.draft(askId) ?? {}, "opened") === true}
          refusal={refusal?.message}
          onDeclineAll={declineAll}
          onOpen={() => act(open)}
          onDone={() => answer({ askResponse: "yesButtonClicked" })}
        />
      );
    }
    case "use_mcp_tool":
    case "access_mcp_resource":
      return (
        <ToolApproval
          {...{ askId, question, busy }}
          refusal={refusal?.message}
          {...{ draft, onDraft }}
          onApprove={(remember, toolArgumentsText) =>
            answer({
              askResponse: "yesButtonClicked",
              ...(remember === undefined ? {} : { remember }),
              ...(toolArgumentsText === undefined ? {} : { toolArgumentsText }),
            })
          }
          onDecline={(remember) =>
            answer({
              askResponse: "noButtonClicked",
              ...(remember === undefined ? {} : { remember }),
            })
          }
          onCancel={ways.onCancel}
        />
      );
    case "repeat_mcp_call":
      return (
        <RepeatCall
          {...{ askId, question, busy }}
          {...ways}
          refusal={refusal?.message}
          onRepeat={() => answer({ askResponse: "yesButtonClicked" })}
        />
      );
    default:
      return unreachable(question);
  }
}

/** Offers the draft of the same form from before its call was lost. */
function TypedBefore({ onFillIn }: { readonly onFillIn: () => void }) {
  return (
    <p className="typed-before">
      {l10n.t("You had begun to fill in this form before its call was lost.")}{" "}
      <button type="button" className="link" onClick={onFillIn}>
        {l10n.t("Fill In What You Had Typed")}
      </button>
    </p>
  );
}
