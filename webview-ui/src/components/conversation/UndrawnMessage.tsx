import type { Message } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { brief } from "../../lib/brief.ts";
import { json } from "../../lib/format.ts";
import { messageOf } from "../../link/client.ts";
import type { Actions } from "../../store/session.ts";
import { useAnswer } from "../ask/useAnswer.ts";
import { CancelCall } from "../call/CancelCall.tsx";
import { Verbatim } from "../content/ContentBlocks.tsx";
import { Boundary } from "../ui/Boundary.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { askElementId, messageElementId, parkedFocus } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";

export interface UndrawnMessageProps {
  readonly taskId: string;
  readonly message: Message;
  /** Why it cannot be drawn. */
  readonly problem: string;
  readonly actions: Actions;
  readonly onRetry: () => void;
}

/**
 * Replaces a row that cannot be drawn: it shows the message as JSON. An open ask can still be dismissed, and a
 * running call cancelled.
 */
export function UndrawnMessage({
  taskId,
  message,
  problem,
  actions,
  onRetry,
}: UndrawnMessageProps) {
  const { id, body } = message;
  const headingId = useId();
  const askId = body.type === "ask" ? body.askId : "";
  const dismissal = useAnswer((response) => actions.answer({ taskId, askId, ...response }));
  return (
    <article
      id={body.type === "ask" ? askElementId(askId) : messageElementId(id)}
      className="settled"
      aria-labelledby={headingId}
      {...parkedFocus}
    >
      <h2 id={headingId} className="settled-head">
        <Icon name="error" /> {l10n.t("This message cannot be shown")}
      </h2>
      <p className="muted">{brief(problem)}</p>
      <Disclosure keep={`${taskId}:${id}:undrawn`} summary={l10n.t("The Message as JSON")}>
        <Boundary subject={message} instead={(why) => <p className="muted">{brief(why)}</p>}>
          <MessageAsJSON message={message} />
        </Boundary>
      </Disclosure>
      {dismissal.refusal !== undefined && <Refusal message={messageOf(dismissal.refusal)} />}
      <div className="actions">
        <button type="button" className="secondary" onClick={onRetry}>
          {l10n.t("Try Again")}
        </button>
        {body.type === "ask" && body.outcome === undefined && (
          <button
            type="button"
            className="secondary"
            aria-disabled={dismissal.busy}
            onClick={() => dismissal.answer({ askResponse: "cancelButtonClicked" })}
          >
            {l10n.t("Dismiss the Question")}
          </button>
        )}
        {body.type === "call" && body.result === undefined && (
          <CancelCall
            cancelling={body.task?.cancelling === true}
            describedBy={undefined}
            onCancel={() => actions.cancelCall(taskId, id)}
          />
        )}
      </div>
    </article>
  );
}

function MessageAsJSON({ message }: { readonly message: Message }) {
  const text = json(message);
  return (
    <>
      <Verbatim text={text} />
      <CopyButton text={text} label={l10n.t("Copy")} />
    </>
  );
}
