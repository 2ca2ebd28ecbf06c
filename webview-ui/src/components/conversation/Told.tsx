import type { Ask, Outcome } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { when } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { byPerson } from "../../timeline/line.ts";
import { during } from "../ask/origin.ts";
import { PlacedHere } from "../ask/PlacedHere.tsx";

export interface ToldProps {
  readonly ask: Ask;
  readonly outcome: Outcome;
  /** The ask is shown at its call, which says during what the server asked. */
  readonly inCall: boolean;
}

/** Says who asked during what, and when, where and why the ask ended. */
export function Told({ ask, outcome, inCall }: ToldProps) {
  const { question } = ask;
  const { by, at, detail = "" } = outcome;
  const time = <time dateTime={new Date(at).toISOString()}>{when(at)}</time>;
  return (
    <>
      {detail !== "" && <p className="muted">{visible(detail)}</p>}
      <p className="muted">
        {by === undefined || !byPerson(outcome.reason)
          ? filled(l10n.t("Ended at {0}."), time)
          : filled(l10n.t("Answered in {0} at {1}."), visible(by), time)}{" "}
        {!inCall && (
          <>
            <span className="name">{visible(question.serverName)}</span> {during(question)}
          </>
        )}
      </p>
      <PlacedHere ask={ask} />
    </>
  );
}
