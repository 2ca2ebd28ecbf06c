import type { LeftOut, ModelEndReason } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { plural } from "../../lib/l10n.ts";

/** Says why a model's message ended; undefined if it ended by itself. */
export function endWords(reason: ModelEndReason): string | undefined {
  switch (reason) {
    case "endTurn":
    case "toolUse":
      return undefined;
    case "maxTokens":
      return l10n.t("The model reached the token limit of one message.");
    case "refused":
      return l10n.t("The model, or its provider, refused.");
    case "stopped":
      return l10n.t("You stopped it.");
    case "failed":
      return l10n.t("There is no answer.");
    case "roundsLimit":
      return l10n.t("The model reached the limit of tool rounds for one message.");
    case "interrupted":
      return l10n.t("Assent stopped before the model was done.");
    default: // a newer sidecar may have more reasons, and the conversation must still render
      reason satisfies never;
      return l10n.t("It ended early.");
  }
}

/** A way to go on from where the conversation ends. */
export interface GoOn {
  readonly label: string;
  /** Retry asks the model again for its last message. A message asks it for more. */
  readonly by: "retry" | "message";
}

/** Returns how to continue after a message with this end; undefined if the person just writes a message. */
export function goOnAfter(reason: ModelEndReason): GoOn | undefined {
  switch (reason) {
    case "endTurn":
    case "toolUse":
      return undefined;
    case "maxTokens":
      return { label: l10n.t("Continue"), by: "message" };
    case "roundsLimit":
      return { label: l10n.t("Continue"), by: "retry" };
    case "refused":
    case "stopped":
    case "failed":
    case "interrupted":
      return { label: l10n.t("Retry"), by: "retry" };
    default: // as in endWords
      reason satisfies never;
      return { label: l10n.t("Retry"), by: "retry" };
  }
}

/** Names the parts that were left out of the request to the model. */
export function leftOutWords(leftOut: LeftOut): string {
  const { messages = 0, toolResults = 0, tools = 0 } = leftOut;
  const parts = [
    ...(messages > 0
      ? [plural(messages, l10n.t("1 earlier message"), l10n.t("{0} earlier messages"))]
      : []),
    ...(toolResults > 0
      ? [
          plural(
            toolResults,
            l10n.t("the rest of 1 long result"),
            l10n.t("the rest of {0} long results"),
          ),
        ]
      : []),
    ...(tools > 0 ? [plural(tools, l10n.t("1 tool"), l10n.t("{0} tools"))] : []),
  ];
  const last = parts.pop() ?? l10n.t("Some content");
  const what = parts.length === 0 ? last : l10n.t("{0} and {1}", parts.join(", "), last);
  return l10n.t("Left out because it does not fit into the model's context: {0}.", what);
}
