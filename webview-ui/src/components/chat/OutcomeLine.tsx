import type { Outcome, OutcomeReason } from "@assent/protocol";
import { unreachable } from "../../unreachable.ts";
import { Icon } from "../ui/Icon.tsx";
import { when } from "../ui/words.ts";

export interface OutcomeLineProps {
  readonly outcome: Outcome;
  /** What a yes to what was asked is called. */
  readonly yes: string;
  readonly no: string;
}

/** How an ask ended, by whose act, and when. */
export function OutcomeLine({ outcome, yes, no }: OutcomeLineProps) {
  const { icon, words } = describe(outcome.reason, yes, no);
  return (
    <p className="outcome">
      <Icon name={icon} />
      <span>
        <strong>{words}</strong>
        {outcome.by !== undefined && ` in ${outcome.by}`}
        <span className="muted">
          {" "}
          at <time dateTime={new Date(outcome.at).toISOString()}>{when(outcome.at)}</time>
        </span>
        {outcome.detail !== undefined && outcome.detail !== "" && (
          <span className="outcome-detail"> {outcome.detail}</span>
        )}
      </span>
    </p>
  );
}

/** Only a person's own act is told as one. */
export function byPerson(reason: OutcomeReason): boolean {
  return (
    reason === "answered" ||
    reason === "declined" ||
    reason === "dismissed" ||
    reason === "regenerated"
  );
}

function describe(
  reason: OutcomeReason,
  yes: string,
  no: string,
): { readonly icon: string; readonly words: string } {
  switch (reason) {
    case "answered":
      return { icon: "pass", words: yes };
    case "granted":
      return { icon: "pass", words: "Approved by a grant" };
    case "declined":
      return { icon: "circle-slash", words: no };
    case "dismissed":
      return { icon: "close", words: "Dismissed without an answer" };
    case "regenerated":
      return { icon: "refresh", words: "Another answer was wanted" };
    case "timedOut":
      return { icon: "clock", words: "There was no time left to answer" };
    case "serverStoppedWaiting":
      return { icon: "clock", words: "The server stopped waiting" };
    case "serverLost":
      return { icon: "debug-disconnect", words: "The connection to the server was lost" };
    case "completed":
      return { icon: "pass", words: "The server said that it is complete" };
    case "restarted":
      return { icon: "debug-restart", words: "Assent stopped while this was open" };
    case "takenOver":
      return { icon: "link-external", words: "Its task was taken over in another window" };
    case "noFrontEnd":
      return { icon: "debug-disconnect", words: "There was nobody to show it to" };
    case "denied":
      return { icon: "circle-slash", words: "Your limits do not allow it" };
    default:
      return unreachable(reason);
  }
}
