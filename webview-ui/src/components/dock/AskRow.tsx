import type { Ask, SamplingTool, UseMcpServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { unreachable } from "../../lib/unreachable.ts";
import type { Models } from "../../store/servers.ts";
import type { Actions } from "../../store/session.ts";
import { useView } from "../../view/ViewContext.ts";
import { type Draft, own, parseDraft } from "../../view/viewState.ts";
import { useAnswer } from "../ask/useAnswer.ts";
import { PermissionApproval } from "../call/PermissionApproval.tsx";
import { RepeatCall } from "../call/RepeatCall.tsx";
import { ToolApproval } from "../call/ToolApproval.tsx";
import { type FormFace, McpElicitationForm } from "../elicitation/McpElicitationForm.tsx";
import { McpURLConsent } from "../elicitation/McpURLConsent.tsx";
import { typedBeforeKey } from "../elicitation/typedBefore.ts";
import { messagesOf, refusedProblems } from "../form/refusedProblems.ts";
import { FormAppLine } from "../mcpApps/FormAppLine.tsx";
import { LazyFormApp } from "../mcpApps/LazyFormApp.tsx";
import { useFormApp } from "../mcpApps/useFormApp.ts";
import { McpSamplingApproval } from "../sampling/McpSamplingApproval.tsx";
import { McpSamplingReview } from "../sampling/McpSamplingReview.tsx";
import { focusAsk } from "../ui/focus.ts";

export interface AskRowProps {
  readonly taskId: string;
  readonly messageId: number;
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
  const { question } = props.ask;
  switch (question.type) {
    case "mcp_elicitation":
      return <FormRow {...props} question={question} />;
    case "mcp_sampling":
      return <SamplingRow {...props} question={question} />;
    case "mcp_sampling_review":
      return <ReviewRow {...props} question={question} />;
    case "mcp_url_elicitation":
      return <PageRow {...props} question={question} />;
    case "use_mcp_tool":
    case "access_mcp_resource":
      return <ToolRow {...props} question={question} />;
    case "repeat_mcp_call":
      return <RepeatRow {...props} question={question} />;
    case "host_permission":
      return <PermissionRow {...props} question={question} />;
    default:
      return unreachable(question);
  }
}

type RowProps<T extends UseMcpServer["type"]> = AskRowProps & {
  readonly question: Extract<UseMcpServer, { readonly type: T }>;
};

/** The props that the cards of all kinds share. */
function useAsk({ taskId, ask, actions }: AskRowProps) {
  const { askId } = ask;
  const view = useView();
  const { busy, answer, act, refusal } = useAnswer((response) =>
    actions.answer({ taskId, askId, ...response }),
  );
  return {
    view,
    answer,
    act,
    refusal,
    problems: useMemo(() => refusedProblems(refusal), [refusal]),
    /** Builds the props of every card. */
    card: {
      ...{ askId, busy },
      onCancel: () => answer({ askResponse: "cancelButtonClicked" }),
      onDecline: () => answer({ askResponse: "noButtonClicked" }),
    },
    onDeclineAll: () => answer({ askResponse: "noButtonClicked", declineAll: true }),
    // The view's own state is at least as new as the sidecar's.
    draft: view.draft(askId) ?? parseDraft(ask.draft),
    onDraft: (next: Draft) => {
      view.setDraft(askId, next);
      actions.saveDraft(taskId, askId, next);
    },
  };
}

function FormRow({ question, ...props }: RowProps<"mcp_elicitation">) {
  const { view, answer, refusal, problems, card, onDeclineAll, draft, onDraft } = useAsk(props);
  const [filledIn, setFilledIn] = useState(false);
  const { serverName, toolNames = [], resourceUri, elicitationRequest } = question;
  const { ask, taskId, messageId, actions } = props;
  const app = useFormApp(
    elicitationRequest,
    () => (view.draft(ask.askId) ?? parseDraft(ask.draft)) !== undefined,
  );
  const face: FormFace | undefined =
    elicitationRequest.appUri === undefined
      ? undefined
      : {
          ...app,
          phase: `${app.shown} ${app.note?.is}`,
          app: app.runs && (
            <LazyFormApp
              {...{ taskId, messageId, serverName, actions }}
              {...app}
              request={elicitationRequest}
            />
          ),
          line: <FormAppLine {...{ serverName, app }} disabled={card.busy} />,
          onPlain: app.showPlain,
        };
  useKeptFocus(ask.askId, face?.phase);
  const key = typedBeforeKey(props.taskId, question);
  const typedBefore = draft === undefined ? view.draft(key) : undefined;
  const fillIn = (typed: Draft) => {
    view.setDraft(key, undefined);
    onDraft(typed);
    setFilledIn(true);
    app.showPlain();
  };
  return (
    <>
      {typedBefore !== undefined && <TypedBefore onFillIn={() => fillIn(typedBefore)} />}
      <McpElicitationForm
        // A form reads its draft only when it is created.
        key={filledIn ? "filled in" : "as it came"}
        face={face}
        {...card}
        {...{ serverName, toolNames, resourceUri, onDeclineAll, problems, draft, onDraft }}
        request={elicitationRequest}
        refusal={problems === undefined ? refusal?.message : undefined}
        onAccept={(elicitationContent, secretFields) =>
          answer({
            askResponse: "yesButtonClicked",
            elicitationContent,
            ...(secretFields && { secretFields: [...secretFields] }),
          })
        }
      />
    </>
  );
}

/**
 * Gives the card the focus if a change took away what had it. A page without the focus must not take it: the app changes
 * the card while the person writes in the editor, too.
 */
function useKeptFocus(askId: string, phase: string | undefined): void {
  const before = useRef(phase);
  useLayoutEffect(() => {
    if (before.current === phase) return;
    before.current = phase;
    const at = document.activeElement;
    const lost = at === null || at === document.body || at.closest("[hidden]") !== null;
    if (lost && document.hasFocus()) focusAsk(askId);
  }, [askId, phase]);
}

function SamplingRow({ question, ...props }: RowProps<"mcp_sampling">) {
  const { answer, refusal, problems, card, draft, onDraft } = useAsk(props);
  const { models, away } = props.models.get(question.serverName) ?? {};
  const refusedSecrets = messagesOf(problems, "secrets");
  const { serverName, toolNames = [], resourceUri, samplingRequest } = question;
  const { model, modelReason, grantReason, secrets, context } = question;
  return (
    <McpSamplingApproval
      {...card}
      {...{ serverName, toolNames, resourceUri, keep: props.keep }}
      {...{ model, modelReason, models, away, grantReason, secrets, context }}
      {...{ refusedSecrets, draft, onDraft }}
      request={samplingRequest}
      refusal={refusedSecrets === undefined ? refusal?.message : undefined}
      fieldProblems={problems}
      onApprove={(approval) => answer({ askResponse: "yesButtonClicked", ...approval })}
    />
  );
}

function ReviewRow({ question, ...props }: RowProps<"mcp_sampling_review">) {
  const { answer, refusal, card, draft, onDraft } = useAsk(props);
  const { models, away } = props.models.get(question.serverName) ?? {};
  return (
    <McpSamplingReview
      {...card}
      {...{ question, models, away, draft, onDraft, keep: props.keep }}
      tools={props.offered}
      refusal={refusal?.message}
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
    />
  );
}

function PageRow({ question, ...props }: RowProps<"mcp_url_elicitation">) {
  const { view, answer, act, refusal, card, onDeclineAll } = useAsk(props);
  const [opening, setOpening] = useState(false);
  const { taskId, ask, actions } = props;
  const { askId } = ask;
  const { serverName, toolNames = [], resourceUri, message, url } = question;
  const { awaitsCompletion = false } = question;
  const open = async () => {
    setOpening(true);
    try {
      const opened = await actions.openAskUrl({ taskId, askId });
      if (!opened) throw new Error(l10n.t("The page was not opened."));
    } finally {
      setOpening(false);
    }
    if (!awaitsCompletion) return true;
    // Stored like a draft, so that a page opened before a reload needs no second consent.
    view.setDraft(askId, { opened: true });
    return false;
  };
  return (
    <McpURLConsent
      {...card}
      {...{ serverName, toolNames, resourceUri, message, url, opening, onDeclineAll }}
      waiting={awaitsCompletion && own(view.draft(askId) ?? {}, "opened") === true}
      refusal={refusal?.message}
      onOpen={() => act(open)}
      onDone={() => answer({ askResponse: "yesButtonClicked" })}
    />
  );
}

function ToolRow({ question, ...props }: RowProps<"use_mcp_tool" | "access_mcp_resource">) {
  const { answer, refusal, card, draft, onDraft } = useAsk(props);
  return (
    <ToolApproval
      {...card}
      {...{ question, draft, onDraft }}
      refusal={refusal?.message}
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
    />
  );
}

function RepeatRow({ question, ...props }: RowProps<"repeat_mcp_call">) {
  const { answer, refusal, card } = useAsk(props);
  return (
    <RepeatCall
      {...card}
      question={question}
      refusal={refusal?.message}
      onRepeat={() => answer({ askResponse: "yesButtonClicked" })}
    />
  );
}

function PermissionRow({ question, ...props }: RowProps<"host_permission">) {
  const { answer, refusal, card } = useAsk(props);
  return (
    <PermissionApproval
      {...card}
      {...{ question, keep: props.keep }}
      refusal={refusal?.message}
      onAllow={(optionId) => answer({ askResponse: "yesButtonClicked", permission: { optionId } })}
      onDecline={(message) =>
        answer({
          askResponse: "noButtonClicked",
          ...(message === "" ? {} : { permission: { message } }),
        })
      }
    />
  );
}

/** Offers the draft of the same form that was lost with its earlier call. */
function TypedBefore({ onFillIn }: { readonly onFillIn: () => void }) {
  return (
    <p className="typed-before">
      {l10n.t("You started to fill in this form before its call was lost.")}{" "}
      <button type="button" className="link" onClick={onFillIn}>
        {l10n.t("Restore What You Typed")}
      </button>
    </p>
  );
}
