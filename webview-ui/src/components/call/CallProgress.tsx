import type { Progress } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";

export interface CallProgressProps {
  readonly progress: Progress;
  /** What the server says of the call elsewhere, which is not shown twice. */
  readonly said: string | undefined;
  /** The id of what names the call. */
  readonly labelledBy: string;
}

/** How far a call is, in the server's own units. Where it names no total, that it moves at all. */
export function CallProgress({ progress, said, labelledBy }: CallProgressProps) {
  const { progress: done, total = 0, message = "" } = progress;
  const words =
    total > 0
      ? l10n.t("{0} of {1}", done.toLocaleString(), total.toLocaleString())
      : l10n.t("{0} so far", done.toLocaleString());
  return (
    <div className="progress">
      <progress
        aria-labelledby={labelledBy}
        aria-valuetext={words}
        {...(total > 0 && { max: total, value: Math.min(Math.max(done, 0), total) })}
      />
      <p className="muted">
        <span className="progress-count">{words}</span>
        {message !== "" && message !== said && <span className="name">{brief(message)}</span>}
      </p>
    </div>
  );
}
