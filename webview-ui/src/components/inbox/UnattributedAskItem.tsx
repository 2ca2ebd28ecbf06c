import type { AskCandidate, ClaimAskParams, UnattributedAsk } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { brief } from "../../lib/brief.ts";
import { ago, elapsed, taskTitle } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { AskingServer } from "../ask/AskingServer.tsx";
import { wanted } from "../ask/askTitle.tsx";
import { useAnswer } from "../ask/useAnswer.ts";
import { askElementId } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";

export interface UnattributedAskItemProps {
  readonly ask: UnattributedAsk;
  readonly now: number;
  /** Assigns or dismisses the question. Rejects if that was refused. */
  readonly onClaim: (params: ClaimAskParams) => Promise<void>;
}

/**
 * An unattributed question: who asks what, and the calls that may have caused it, for the person to choose from. The
 * choice answers nothing: the question becomes an ask in that task.
 */
export function UnattributedAskItem({ ask, now, onClaim }: UnattributedAskItemProps) {
  const { id, serverName, wants, text = "", time, candidates = [] } = ask;
  const { icon, words } = wanted(wants);
  const headingId = useId();
  const { busy, refusal, act } = useAnswer(() => Promise.resolve());
  const claim = (how: Omit<ClaimAskParams, "id">) =>
    act(async () => {
      await onClaim({ id, ...how });
      return true;
    });
  return (
    // The whole item takes the focus, so that an Enter meant for another control chooses nothing.
    <li
      id={askElementId(id)}
      className="unattributed-ask"
      aria-labelledby={headingId}
      aria-busy={busy}
      tabIndex={-1}
    >
      <p id={headingId} className="mcp-task-line">
        <Icon name={icon} />
        <span className="muted">
          {filled(words, <strong className="name">{serverName}</strong>)}
        </span>
      </p>
      <AskingServer askId={id} serverName={serverName} />
      {text !== "" && (
        <blockquote className="ask-message" aria-label={l10n.t("What {0} says", serverName)}>
          {brief(text)}
        </blockquote>
      )}
      <p className="muted">
        {l10n.t("The server does not say which call this belongs to ({0}).", ago(now - time))}
      </p>
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
              <span>{`${called(candidate)}, ${standing(state, elapsed(now - since))}`}</span>
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
function standing(state: AskCandidate["state"], since: string): string {
  switch (state) {
    case "inFlight":
      return l10n.t("running for {0}", since);
    case "givenUp":
      return l10n.t("cancelled here, started before {0}", since);
    case "ended":
      return l10n.t("has ended, started before {0}", since);
    default:
      return unreachable(state);
  }
}
