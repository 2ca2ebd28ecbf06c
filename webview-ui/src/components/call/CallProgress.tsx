import type { Progress } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";

export interface CallProgressProps {
  readonly progress: Progress;
  /** The server's status text, which is shown elsewhere and is not repeated. */
  readonly said: string | undefined;
  /** The id of the element that names the call. */
  readonly labelledBy: string;
}

/** The progress of a call, in the server's own units. Without a total, it only shows activity. */
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
