import type { ClaimAskParams, UnattributedAsk } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId, useState } from "react";
import { brief } from "../../lib/brief.ts";
import { ago, taskTitle } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { AskingServer } from "../ask/AskingServer.tsx";
import { wanted } from "../ask/askTitle.tsx";
import { useAnswer } from "../ask/useAnswer.ts";
import { askElementId } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { called, standing } from "./candidateWords.ts";

export interface UnattributedAskItemProps {
  readonly ask: UnattributedAsk;
  readonly now: number;
  /** Assigns or dismisses the question. Rejects if that was refused. */
  readonly onClaim: (params: ClaimAskParams) => Promise<void>;
}

/**
 * An unattributed question that is not known whole before it has a task: who asks what, and the calls that may have caused it,
 * for the person to choose from. If only one may have, its task is on the button. The choice answers nothing: the question
 * becomes an ask in that task.
 */
export function UnattributedAskItem({ ask, now, onClaim }: UnattributedAskItemProps) {
  const { id, serverName, wants, text = "", time, candidates = [] } = ask;
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
      {only !== undefined ? (
        <div className="actions">
          <button
            type="button"
            className="primary small"
            aria-disabled={busy}
            onClick={() => claim({ taskId: only.taskId, messageId: only.messageId })}
          >
            {l10n.t("Answer, in “{0}”", taskTitle(only))}
          </button>
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
