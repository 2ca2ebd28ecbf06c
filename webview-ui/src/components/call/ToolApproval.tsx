import type { AccessMcpResource, Remember, UseMcpTool } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useRef, useState } from "react";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import type { Draft } from "../../view/viewState.ts";
import { AcceptButton } from "../ask/AcceptButton.tsx";
import { AskCard } from "../ask/AskCard.tsx";
import { Description } from "../ask/AskMessage.tsx";
import { titleOf } from "../ask/askTitle.tsx";
import { DeclineButton } from "../ask/DeclineButton.tsx";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { useReading } from "../ask/useReading.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { ServerIcon } from "../ui/ServerIcon.tsx";
import { URLBox } from "../ui/URLBox.tsx";
import { Arguments, draftOf, editedBefore, writtenOf } from "./ToolArguments.tsx";
import { ToolChanged } from "./ToolChanged.tsx";
import { toolClaims, wrongArguments } from "./toolWords.ts";

export interface ToolApprovalProps {
  readonly askId: string;
  readonly question: UseMcpTool | AccessMcpResource;
  /** An answer is being sent. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The arguments typed before the view was loaded. */
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft) => void;
  /** The person allows it, optionally with other arguments, as JSON, and optionally from now on. */
  readonly onApprove: (remember: Remember | undefined, toolArguments: string | undefined) => void;
  /** The person declined, optionally from now on. */
  readonly onDecline: (remember: Remember | undefined) => void;
  /** The person dismissed the question. */
  readonly onCancel: () => void;
}

/**
 * Asks for approval before a model or an app calls a tool, before a model reads a resource, or before a host calls a
 * changed tool.
 */
export function ToolApproval(props: ToolApprovalProps) {
  const { askId, question, busy, refusal, draft, onDraft, onApprove, onDecline, onCancel } = props;
  const reading = useReading();
  const ready = useClickGuard("asked", reading.state) && !busy;
  const [edited, setEdited] = useState(() => editedBefore(question, draft));
  const [problem, setProblem] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  // The form checks its fields itself. Enter in a field does not approve.
  const approving = useRef<{ readonly remember: Remember | undefined }>(undefined);
  const isTool = question.type === "use_mcp_tool";
  const byApp = isTool && question.fromApp === true;
  const destructive = isTool && question.destructive === true;
  const { serverName } = question;
  // A host approves its calls itself, so that nothing is remembered.
  const byHost = isTool && question.hostName !== undefined;
  const approveText = (remember: Remember | undefined, text: string) =>
    onApprove(remember, text === writtenOf(question) ? undefined : text);
  const approve = (remember?: Remember) => {
    switch (edited?.as) {
      case undefined:
        onApprove(remember, undefined);
        return;
      case "json": {
        const wrong = wrongArguments(edited.text);
        setProblem(wrong);
        if (wrong === undefined) approveText(remember, edited.text);
        return;
      }
      case "fields":
        approving.current = { remember };
        form.current?.requestSubmit();
        return;
      default:
        unreachable(edited);
    }
  };
  const { icon, words, what } = titleOf(question);
  return (
    <AskCard
      {...{ askId, serverName, icon, reading, busy }}
      toolNames={[]}
      whatIcon={
        <ServerIcon
          {...{ serverName }}
          list={isTool ? "tools" : "resources"}
          item={isTool ? question.tool.name : question.uri}
        />
      }
      does={words}
      {...(what === undefined ? {} : { what })}
      {...(isTool && { whatHint: visible(question.tool.name), rawName: question.tool.name })}
      problems={refusal !== undefined && <Refusal message={refusal} />}
      actions={
        <>
          <AcceptButton
            danger={destructive}
            label={l10n.t("Allow")}
            moreLabel={l10n.t("More Ways to Allow")}
            {...{ reading, ready, busy }}
            onClick={() => approve()}
            entries={
              byHost
                ? []
                : [
                    {
                      label: l10n.t("Allow in this task"),
                      about: byApp
                        ? l10n.t(
                            "Apps and the model may use this tool in this task without asking.",
                          )
                        : isTool
                          ? l10n.t("The model may use this tool in this task without asking.")
                          : l10n.t("The model may read this resource in this task without asking."),
                      onChoose: () => approve("task"),
                    },
                    {
                      label: l10n.t("Always allow"),
                      about: byApp
                        ? l10n.t(
                            "Apps and the model may use this tool in every task without asking.",
                          )
                        : isTool
                          ? l10n.t("The model may use this tool in every task without asking.")
                          : l10n.t(
                              "The model may read this resource in every task without asking.",
                            ),
                      onChoose: () => approve("always"),
                    },
                  ]
            }
          />
          <DeclineButton
            {...{ serverName, ready, busy, onCancel }}
            onDecline={() => onDecline(undefined)}
            more={
              byHost
                ? []
                : [
                    {
                      label: l10n.t("Never allow"),
                      about: byApp
                        ? l10n.t(
                            "Apps and the model may not use this tool in any task, and you are not asked.",
                          )
                        : isTool
                          ? l10n.t(
                              "The model may not use this tool in any task, and you are not asked.",
                            )
                          : l10n.t(
                              "The model may not read this resource in any task, and you are not asked.",
                            ),
                      onChoose: () => onDecline("never"),
                    },
                  ]
            }
          />
        </>
      }
    >
      {isTool && <WhyAsked {...{ askId, question }} />}
      {isTool && (
        <Arguments
          {...{ askId, question, busy, edited, problem, form }}
          onEdit={(next) => {
            setEdited(next);
            setProblem(undefined);
            onDraft(draftOf(next));
          }}
          onCheck={(text) => setProblem(wrongArguments(text))}
          onSubmit={(text) => {
            if (approving.current !== undefined) approveText(approving.current.remember, text);
            approving.current = undefined;
          }}
          onNotSubmitted={() => {
            approving.current = undefined;
          }}
        />
      )}
      {isTool ? (
        <AskedTool {...{ askId, question, destructive }} />
      ) : (
        <AskedResource {...{ askId, question }} />
      )}
    </AskCard>
  );
}

/** Why a call that was allowed before is asked about again. */
function WhyAsked({ askId, question }: { readonly askId: string; readonly question: UseMcpTool }) {
  const { changed, hostName } = question;
  return (
    <>
      {changed !== undefined && <ToolChanged change={changed} keep={askId} />}
      {hostName !== undefined && (
        <p>
          {l10n.t(
            "{0} calls it. If you allow it, you are not asked again until it changes again.",
            visible(hostName),
          )}
        </p>
      )}
    </>
  );
}

interface AskedToolProps {
  readonly askId: string;
  readonly question: UseMcpTool;
  readonly destructive: boolean;
}

/** The warning about the arguments above it, then the server's own words about its tool. */
function AskedTool({ askId, question, destructive }: AskedToolProps) {
  const { tool, serverName } = question;
  return (
    <>
      {destructive && (
        <p className="danger-line">
          <Icon name="warning" />
          <span>
            {l10n.t(
              "This tool may delete or overwrite data. Read the arguments before you allow it.",
            )}
          </span>
        </p>
      )}
      <Description {...{ askId, serverName }} text={tool.description ?? ""} />
      <ul className="tool-claims" aria-label={l10n.t("{0} says about it", serverName)}>
        {toolClaims(tool.annotations).map(({ icon, badge, words }) => (
          <li key={words} title={words}>
            <Icon name={icon} />
            <span aria-hidden="true">{badge}</span>
            <span className="visually-hidden">{words}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function AskedResource({
  askId,
  question: { uri, resource, serverName },
}: {
  readonly askId: string;
  readonly question: AccessMcpResource;
}) {
  return (
    <>
      <URLBox>{visible(uri)}</URLBox>
      <Description {...{ askId, serverName }} text={resource?.description ?? ""} />
    </>
  );
}
