import type { Outcome, OutcomeReason, StandingDecision } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useContext } from "react";
import { filled } from "../../l10n.ts";
import { unreachable } from "../../unreachable.ts";
import { Icon } from "../ui/Icon.tsx";
import { visible } from "../ui/visible.ts";
import { when } from "../ui/words.ts";
import { ChangeContext } from "./ChangeContext.ts";

export interface OutcomeLineProps {
  readonly outcome: Outcome;
  /** The words for a yes and for a no to this question. */
  readonly yes: string;
  readonly no: string;
  /** The server, the tool or the resource that a standing decision is about. */
  readonly subject?: string | undefined;
}

/** How an ask ended, who ended it, and when. */
export function OutcomeLine({ outcome, yes, no, subject }: OutcomeLineProps) {
  const change = useContext(ChangeContext);
  if (outcome.standing !== undefined && subject !== undefined) {
    const approved = outcome.reason === "granted";
    return (
      <p className="outcome">
        <Icon name={approved ? "pass" : "circle-slash"} />
        <span>
          <strong>{standingWords(outcome.standing, visible(subject))}</strong>{" "}
          <time className="muted" dateTime={new Date(outcome.at).toISOString()}>
            {when(outcome.at)}
          </time>{" "}
          <button type="button" className="link" onClick={change}>
            {l10n.t("Change")}
          </button>
        </span>
      </p>
    );
  }
  const { icon, words } = describe(outcome.reason, yes, no);
  const { undelivered = "" } = outcome;
  return (
    <p className="outcome">
      <Icon name={undelivered === "" ? icon : "warning"} />
      <span>
        {filled(
          outcome.by === undefined ? l10n.t("{0} at {2}") : l10n.t("{0} in {1} at {2}"),
          <strong>{words}</strong>,
          outcome.by,
          <time className="muted" dateTime={new Date(outcome.at).toISOString()}>
            {when(outcome.at)}
          </time>,
        )}
        {outcome.detail !== undefined && outcome.detail !== "" && (
          <span className="outcome-detail"> {visible(outcome.detail)}</span>
        )}
        {undelivered !== "" && <span className="outcome-detail"> {undelivered}</span>}
      </span>
    </p>
  );
}

/** Says which earlier decision of the person settled an ask. */
function standingWords(standing: StandingDecision, subject: string): string {
  switch (standing) {
    case "declineAll":
      return l10n.t("Declined: you declined everything from {0}", subject);
    case "never":
      return l10n.t("Declined: never allow {0}", subject);
    case "always":
      return l10n.t("Approved: always allow {0}", subject);
    case "task":
      return l10n.t("Approved: allow {0} in this task", subject);
    default:
      return unreachable(standing);
  }
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
      return { icon: "pass", words: l10n.t("Approved by a grant") };
    case "declined":
      return { icon: "circle-slash", words: no };
    case "dismissed":
      return { icon: "close", words: l10n.t("Dismissed without an answer") };
    case "regenerated":
      return { icon: "refresh", words: l10n.t("Another answer was wanted") };
    case "timedOut":
      return { icon: "clock", words: l10n.t("There was no time left to answer") };
    case "serverStoppedWaiting":
      return { icon: "clock", words: l10n.t("The server stopped waiting") };
    case "callEnded":
      return { icon: "clock", words: l10n.t("The call ended first") };
    case "serverLost":
      return { icon: "debug-disconnect", words: l10n.t("The connection to the server was lost") };
    case "completed":
      return { icon: "pass", words: l10n.t("The server said that it is complete") };
    case "restarted":
      return { icon: "debug-restart", words: l10n.t("Assent stopped while this was open") };
    case "takenOver":
      return { icon: "link-external", words: l10n.t("Its task was taken over in another window") };
    case "noFrontEnd":
      return { icon: "debug-disconnect", words: l10n.t("There was nobody to show it to") };
    case "denied":
      return { icon: "circle-slash", words: l10n.t("Your limits do not allow it") };
    default:
      return unreachable(reason);
  }
}
