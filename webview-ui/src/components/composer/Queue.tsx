import type { QueuedMessage } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { IconButton } from "../ui/IconButton.tsx";

export interface QueueProps {
  /** In the order in which they will be sent. */
  readonly queue: readonly QueuedMessage[];
  readonly onRemove: (queuedId: string) => void;
  /** Sends the first one; undefined while the model works, after which it is sent automatically. */
  readonly onSend: (() => void) | undefined;
}

/** The messages that the person typed while the model was working. */
export function Queue({ queue, onRemove, onSend }: QueueProps) {
  return (
    <section className="queue" aria-label={l10n.t("Queued messages")}>
      <p className="muted">
        {onSend === undefined
          ? l10n.t("Sent when the model is done:")
          : l10n.t("Not sent, because the model stopped:")}
        {onSend !== undefined && (
          <button type="button" className="link" onClick={onSend}>
            {l10n.t("Send Now")}
          </button>
        )}
      </p>
      <ol>
        {queue.map(({ id, text, attachments = [] }) => (
          <li key={id}>
            <span className="queued">
              {visible(text)}
              {attachments.length > 0 && (
                <span className="muted">
                  {" "}
                  {plural(
                    attachments.length,
                    l10n.t("With 1 attachment."),
                    l10n.t("With {0} attachments."),
                  )}
                </span>
              )}
            </span>
            <IconButton
              icon="close"
              label={l10n.t("Remove from the Queue")}
              onClick={() => onRemove(id)}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}
