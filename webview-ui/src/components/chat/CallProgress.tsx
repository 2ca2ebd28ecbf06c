import type { Progress } from "@assent/protocol";

export interface CallProgressProps {
  readonly progress: Progress;
  /** The id of what names the call. */
  readonly labelledBy: string;
}

/** More than a line or two of this belongs into the result. */
const longestMessage = 300;

/** How far a call is, in the server's own units. Where it names no total, that it moves at all. */
export function CallProgress({ progress, labelledBy }: CallProgressProps) {
  const { progress: done, total = 0, message = "" } = progress;
  const words =
    total > 0
      ? `${done.toLocaleString()} of ${total.toLocaleString()}`
      : `${done.toLocaleString()} so far`;
  return (
    <div className="progress">
      <progress
        aria-labelledby={labelledBy}
        aria-valuetext={words}
        {...(total > 0 && { max: total, value: Math.min(Math.max(done, 0), total) })}
      />
      <p className="muted">
        <span className="progress-count">{words}</span>
        {message !== "" && <span className="name">{brief(message)}</span>}
      </p>
    </div>
  );
}

function brief(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
}
