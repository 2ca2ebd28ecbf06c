import type {
  ClaimAskParams,
  McpElicitation,
  McpURLElicitation,
  UnattributedAsk,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId, useRef, useState } from "react";
import { brief } from "../../lib/brief.ts";
import { ago, taskTitle } from "../../lib/format.ts";
import { useView } from "../../view/ViewContext.ts";
import { AskJSON } from "../ask/AskJSON.tsx";
import { acceptCard } from "../ask/acceptCard.ts";
import { DockedContext } from "../ask/contexts.ts";
import { type Answer, useAnswer } from "../ask/useAnswer.ts";
import { McpElicitationForm } from "../elicitation/McpElicitationForm.tsx";
import { McpURLConsent } from "../elicitation/McpURLConsent.tsx";
import { called, standing } from "./candidateWords.ts";

export interface UnattributedCardProps {
  readonly ask: UnattributedAsk;
  readonly question: McpElicitation | McpURLElicitation;
  readonly now: number;
  /** Assigns or dismisses the question. Rejects if that was refused. */
  readonly onClaim: (params: ClaimAskParams) => Promise<void>;
  /** Assigns the question, and answers it there or opens its page. Rejects if it could not be assigned. */
  readonly onPlace: (params: ClaimAskParams, how: Answer | "openPage") => Promise<void>;
}

/**
 * The card of an unattributed question. The same press files it in a task and answers it there: in the task of the only
 * call that may have caused it, which the button names, or in the one that the person chooses on the card.
 */
export function UnattributedCard(props: UnattributedCardProps) {
  const { ask, question, now, onClaim, onPlace } = props;
  const { id, serverName, time, candidates = [] } = ask;
  const ways = [
    ...candidates.map((candidate) => ({
      key: `${candidate.taskId}:${candidate.messageId}`,
      to: { taskId: candidate.taskId, messageId: candidate.messageId },
      title: brief(taskTitle(candidate)),
      words: l10n.t("in “{0}”", brief(taskTitle(candidate))),
      about: `${called(candidate)}, ${standing(candidate.state, now - candidate.since)}`,
    })),
    {
      key: "new",
      to: { newTask: true },
      title: l10n.t("A new task"),
      words: l10n.t("in a new task"),
      about: undefined,
    },
  ];
  const only = candidates.length === 1 ? ways[0] : undefined;
  // Other calls may become possible later. Only the person chooses one of them.
  const [chosenKey, setChosenKey] = useState(only?.key);
  const chosen = ways.find(({ key }) => key === chosenKey);
  const [wantsChange, setWantsChange] = useState(false);
  const changing = wantsChange || only === undefined || chosen !== only;
  const [unchosen, setUnchosen] = useState(false);
  const choice = useRef<HTMLFieldSetElement>(null);
  const view = useView();
  const { busy, refusal, act } = useAnswer(() => Promise.resolve());
  const group = useId();

  const settle = (how: Answer | "openPage") => {
    setUnchosen(chosen === undefined);
    if (chosen === undefined) {
      choice.current?.querySelector("input")?.focus();
      return;
    }
    act(async () => {
      await onPlace({ id, ...chosen.to }, how);
      return true;
    });
  };
  const asked = l10n.t("Asked {0}.", ago(now - time));
  const card = {
    ...{ askId: id, serverName, toolNames: [], busy },
    refusal: unchosen ? l10n.t("Choose the task that it belongs to.") : refusal?.message,
    onDecline: () => settle({ askResponse: "noButtonClicked" }),
    onDeclineAll: () => settle({ askResponse: "noButtonClicked", declineAll: true }),
    onCancel: () =>
      act(async () => {
        await onClaim({ id, dismiss: true });
        return true;
      }),
  } as const;
  const placing = (
    <div className="placing">
      <p className="muted">
        {asked}{" "}
        {only === undefined
          ? l10n.t("The server does not say which call this belongs to.")
          : l10n.t(
              "The server does not say which call this belongs to. One call may have caused it: {0}.",
              only.about ?? "",
            )}{" "}
        {!changing && (
          <button
            type="button"
            className="link"
            onClick={({ currentTarget }) => {
              currentTarget.closest<HTMLElement>(".ask-card")?.focus(); // the button goes
              setWantsChange(true);
            }}
          >
            {l10n.t("Change…")}
          </button>
        )}
      </p>
      {changing && (
        <fieldset ref={choice} className="placing-ways" disabled={busy}>
          <legend>{l10n.t("Assign to a task")}</legend>
          {ways.map(({ key, title, about }) => (
            <label key={key} className="tick">
              <input
                type="radio"
                name={group}
                checked={key === chosen?.key}
                onChange={() => {
                  setChosenKey(key);
                  setUnchosen(false);
                }}
              />
              <span>
                {title} {about !== undefined && <span className="muted">{about}</span>}
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
  const json = <AskJSON question={question} keep={`unattributed:${id}`} />;
  return (
    <DockedContext value={{ ...inList, filedIn: chosen?.words, notes: placing, more: json }}>
      <li
        className="unattributed-card"
        onKeyDown={(event) => {
          if (event.defaultPrevented || event.nativeEvent.isComposing) return;
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          if (!event.repeat) acceptCard(event.currentTarget);
        }}
      >
        {question.type === "mcp_elicitation" ? (
          <McpElicitationForm
            {...card}
            request={question.elicitationRequest}
            problems={undefined}
            draft={view.draft(id)}
            onDraft={(draft) => view.setDraft(id, draft)}
            onAccept={(elicitationContent, secretFields) =>
              settle({
                askResponse: "yesButtonClicked",
                elicitationContent,
                ...(secretFields && { secretFields: [...secretFields] }),
              })
            }
          />
        ) : (
          <McpURLConsent
            {...card}
            message={question.message}
            url={question.url}
            waiting={false}
            opening={busy}
            onOpen={() => settle("openPage")}
            onDone={() => {}}
          />
        )}
      </li>
    </DockedContext>
  );
}

const inList = { turn: 0, shown: true, listed: true, head: null } as const;
