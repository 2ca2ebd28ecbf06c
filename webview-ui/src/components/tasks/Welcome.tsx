import * as l10n from "@vscode/l10n";
import { FirstSteps, type FirstStepsProps } from "./FirstSteps.tsx";

/** Shown while there are no tasks: what Assent does, and the next step. */
export function Welcome(props: FirstStepsProps) {
  return (
    <main className="welcome">
      <h2>{l10n.t("Your servers can ask; you stay in control")}</h2>
      <p>
        {l10n.t(
          "A model works on your task with your servers' tools. Each call, and each question from a server, waits for you here.",
        )}
      </p>
      <FirstSteps {...props} />
    </main>
  );
}
