import type { QueuedMessage } from "@assent/protocol";
import { IconButton } from "../ui/IconButton.tsx";
import { visible } from "../ui/visible.ts";

export interface QueueProps {
  /** The first to be sent first. */
  readonly queue: readonly QueuedMessage[];
  readonly onRemove: (queuedId: string) => void;
  /** Sends the first one; absent while the model is at work, after which it goes by itself. */
  readonly onSend: (() => void) | undefined;
}

/** What the person typed while the model was at work. */
export function Queue({ queue, onRemove, onSend }: QueueProps) {
  return (
    <section className="queue" aria-label="Queued messages">
      <p className="muted">
        {onSend === undefined
          ? "Sent when the model is done:"
          : "Not sent yet, as the turn was ended:"}
        {onSend !== undefined && (
          <button type="button" className="link" onClick={onSend}>
            Send Now
          </button>
        )}
      </p>
      <ol>
        {queue.map(({ id, text }) => (
          <li key={id}>
            <span className="queued">{visible(text)}</span>
            <IconButton icon="close" label="Remove from the Queue" onClick={() => onRemove(id)} />
          </li>
        ))}
      </ol>
    </section>
  );
}
