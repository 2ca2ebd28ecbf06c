import type { AskCandidate } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { ago, elapsed } from "../../lib/format.ts";
import { unreachable } from "../../lib/unreachable.ts";

/** The name of the called item. */
export function called({ toolName, resourceUri, promptName }: AskCandidate): string {
  if (toolName !== undefined) return brief(toolName);
  if (resourceUri !== undefined) return brief(resourceUri);
  return promptName === undefined ? l10n.t("a call") : brief(promptName);
}

/** The state of the call, and for how long. */
export function standing(state: AskCandidate["state"], ms: number): string {
  switch (state) {
    case "inFlight":
      return l10n.t("running for {0}", elapsed(ms));
    case "givenUp":
      return l10n.t("cancelled here, started {0}", ago(ms));
    case "ended":
      return l10n.t("ended, started {0}", ago(ms));
    default:
      return unreachable(state);
  }
}
