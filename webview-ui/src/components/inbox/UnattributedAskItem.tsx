import type { AskCandidate, ClaimAskParams, UnattributedAsk } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId, useState } from "react";
import { brief } from "../../lib/brief.ts";
import { ago, elapsed, taskTitle } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { AskingServer } from "../ask/AskingServer.tsx";
import { wanted } from "../ask/askTitle.tsx";
import { type Answer, useAnswer } from "../ask/useAnswer.ts";
import { askElementId } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { AskInPlace } from "./AskInPlace.tsx";

export interface UnattributedAskItemProps {
  readonly ask: UnattributedAsk;
  readonly now: number;
  /** Assigns or dismisses the question. Rejects if that was refused. */
  readonly onClaim: (params: ClaimAskParams) => Promise<void>;
  /** Assigns a simple question and answers it there. Rejects if it could not be assigned. */
  readonly onPlace: (params: ClaimAskParams, answer: Answer) => Promise<void>;
}

/**
 * An unattributed question: who asks what, and the calls that may have caused it, for the person to choose from. If
 * only one may have, its task is on the button, and the same press answers a simple question. Otherwise the choice answers
 * nothing: the question becomes an ask in that task.
 */
export function UnattributedAskItem({ ask, now, onClaim, onPlace }: UnattributedAskItemProps) {
  const { id, serverName, wants, text = "", time, candidates = [], simple = false } = ask;
  const { icon, words } = wanted(wants);
  const headingId = useId();
  /** The person wants another task than the only possible one. */
  const [changing, setChanging] = useState(false);
  const only = candidates.length === 1 && !changing ? candidates[0] : undefined;
  const { busy, refusal, act } = useAnswer(() => Promise.resolve());
  const asks = filled(words, <span className="name">{serverName}</span>);
  const claim = (how: Omit<ClaimAskParams, "id">) =>
    act(async () => {
      await onClaim({ id, ...how });
      return true;
    });
  const change = (
    <button
      type="button"
      className="secondary small"
      onClick={({ currentTarget }) => {
        currentTarget.closest("li")?.focus(); // the button goes
        setChanging(true);
      }}
    >
      {l10n.t("Change…")}
    </button>
  );
  return (
    // The whole item takes the focus, so that an Enter meant for another control chooses nothing.
    <li
      id={askElementId(id)}
      className="unattributed-ask"
      aria-labelledby={headingId}
      aria-busy={busy}
      tabIndex={-1}
    >
      <div id={headingId}>
        <p className="mcp-task-line">
          <Icon name={icon} />
          {text === "" ? asks : <strong className="name ask-whole-text">{brief(text)}</strong>}
        </p>{" "}
        {text !== "" && <p className="mcp-task-more muted">{asks}</p>}
      </div>
      <AskingServer askId={id} serverName={serverName} />
      <p className="mcp-task-more muted">
        {l10n.t("Asked {0}.", ago(now - time))}{" "}
        {only === undefined
          ? l10n.t("The server does not say which call this belongs to.")
          : l10n.t(
              "The server does not say which call this belongs to. One call may have caused it: {0}, {1}.",
              called(only),
              standing(only.state, now - only.since),
            )}
      </p>
      {only !== undefined && simple ? (
        <AskInPlace
          {...{ ask, serverName }}
          askId={id}
          words={l10n.t("Submit, in “{0}”", taskTitle(only))}
          onAnswer={(answer) =>
            onPlace({ id, taskId: only.taskId, messageId: only.messageId }, answer)
          }
        >
          {change}
        </AskInPlace>
      ) : only !== undefined ? (
        <div className="actions">
          <button
            type="button"
            className="primary small"
            aria-disabled={busy}
            onClick={() => claim({ taskId: only.taskId, messageId: only.messageId })}
          >
            {l10n.t("Answer, in “{0}”", taskTitle(only))}
          </button>
          {change}
        </div>
      ) : (
        <fieldset className="unattributed-ways" aria-label={l10n.t("Assign to a task")}>
          {candidates.map((candidate) => {
            const { taskId, messageId, since, state } = candidate;
            return (
              <button
                key={`${taskId}:${messageId}`}
                type="button"
                className="secondary unattributed-way"
                aria-disabled={busy}
                onClick={() => claim({ taskId, messageId })}
              >
                <span>{taskTitle(candidate)}</span>
                <span>{`${called(candidate)}, ${standing(state, now - since)}`}</span>
              </button>
            );
          })}
          <div className="actions">
            <button
              type="button"
              className="secondary"
              aria-disabled={busy}
              onClick={() => claim({ newTask: true })}
            >
              {l10n.t("In a New Task")}
            </button>
            <button
              type="button"
              className="secondary"
              aria-disabled={busy}
              onClick={() => claim({ dismiss: true })}
            >
              {l10n.t("Dismiss")}
            </button>
          </div>
        </fieldset>
      )}
      {refusal !== undefined && <Refusal message={refusal.message} />}
    </li>
  );
}

/** The name of the called item. */
function called({ toolName, resourceUri, promptName }: AskCandidate): string {
  if (toolName !== undefined) return brief(toolName);
  if (resourceUri !== undefined) return brief(resourceUri);
  return promptName === undefined ? l10n.t("a call") : brief(promptName);
}

/** The state of the call, and for how long. */
function standing(state: AskCandidate["state"], ms: number): string {
  switch (state) {
    case "inFlight":
      return l10n.t("running for {0}", elapsed(ms));
    case "givenUp":
      return l10n.t("cancelled here, started {0}", ago(ms));
    case "ended":
      return l10n.t("ended, started {0}", ago(ms));
    default:
      return unreachable(state);
  }
}
