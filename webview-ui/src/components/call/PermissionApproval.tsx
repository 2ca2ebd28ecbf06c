import type { HostPermission } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId, useState } from "react";
import { visible } from "../../lib/visible.ts";
import { AcceptButton } from "../ask/AcceptButton.tsx";
import { AskCard } from "../ask/AskCard.tsx";
import { titleOf } from "../ask/askTitle.tsx";
import { TerminalButton } from "../ask/TerminalButton.tsx";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { useReading } from "../ask/useReading.ts";
import { Refusal } from "../ui/Refusal.tsx";
import { PermissionDetails } from "./PermissionDetails.tsx";

export interface PermissionApprovalProps {
  readonly askId: string;
  readonly question: HostPermission;
  /** Names the card in the view's state; unique in the panel. */
  readonly keep: string;
  /** An answer is being sent. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The person allows it in one of the ways that the host offered. */
  readonly onAllow: (optionId: string) => void;
  /** The person declined, with words for the model that may be empty. */
  readonly onDecline: (message: string) => void;
  /** The person leaves it to the host's own prompt. */
  readonly onCancel: () => void;
}

/** Asks whether an agent may do something, as its host would in its own terminal. */
export function PermissionApproval(props: PermissionApprovalProps) {
  const { askId, question, keep, busy, refusal, onAllow, onDecline, onCancel } = props;
  const { serverName, options = [], plan, declineMeans } = question;
  const reading = useReading();
  const ready = useClickGuard("asked", reading.state) && !busy;
  const [message, setMessage] = useState("");
  const messageId = useId();
  const [once, ...others] = options;
  const { icon, words } = titleOf(question);
  return (
    <AskCard
      {...{ askId, serverName, icon, reading, busy }}
      does={words}
      problems={refusal !== undefined && <Refusal message={refusal} />}
      actions={
        <>
          {once !== undefined && (
            <AcceptButton
              label={plan === undefined ? l10n.t("Allow Once") : l10n.t("Approve the Plan")}
              moreLabel={l10n.t("More Ways to Allow")}
              {...{ reading, ready, busy }}
              onClick={() => onAllow(once.id)}
              entries={others.map(({ id, name, means }) => ({
                label: visible(name),
                about: visible(means),
                onChoose: () => onAllow(id),
              }))}
            />
          )}
          <button
            type="button"
            className="secondary"
            aria-disabled={!ready}
            onClick={() => {
              if (ready) onDecline(message.trim());
            }}
          >
            {l10n.t("Decline")}
          </button>
          <TerminalButton {...{ ready, busy }} onClick={onCancel} />
        </>
      }
      below={
        <>
          <label htmlFor={messageId}>{l10n.t("Words for the model if you decline")}</label>
          <textarea
            id={messageId}
            rows={1}
            value={message}
            disabled={busy}
            onChange={({ currentTarget }) => setMessage(currentTarget.value)}
          />
          {declineMeans !== undefined && <p className="muted">{visible(declineMeans)}</p>}
          {plan !== undefined && once !== undefined && (
            <p className="muted">{visible(once.means)}</p>
          )}
          <p className="muted">
            {l10n.t(
              "{0} asks in its terminal, too, and the first answer counts. If you have allowed it there, this question may stay until it is done.",
              visible(serverName),
            )}
          </p>
        </>
      }
    >
      <PermissionDetails {...{ question, keep }} />
    </AskCard>
  );
}
