import type { McpSamplingResponse, Model } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "../lib/visible.ts";

/** Returns the provider's name for its model. The demo script keeps its own name. */
export function answererOf(
  model: Model | undefined,
  response: McpSamplingResponse | undefined,
): string {
  if (response?.byPerson) return l10n.t("You, as {0}", visible(response.model));
  if (response !== undefined && model?.provider !== "demo") return visible(response.model);
  return visible(model?.name ?? l10n.t("a model"));
}

/** Says why a model stopped; empty if it ended normally. */
export function stopped({ stopReason }: McpSamplingResponse): string {
  switch (stopReason) {
    case undefined:
    case "":
    case "endTurn":
      return "";
    case "maxTokens":
      return l10n.t("was cut off at the token limit");
    case "stopSequence":
      return l10n.t("stopped at a stop sequence");
    case "toolUse":
      return l10n.t("asks for tool calls");
    case "userStopped":
      return l10n.t("was stopped by you");
    default:
      return l10n.t("stopped: {0}", stopReason);
  }
}
