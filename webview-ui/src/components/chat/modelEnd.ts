import type { LeftOut, ModelEndReason } from "@assent/protocol";
import { unreachable } from "../../unreachable.ts";
import { count } from "../ui/words.ts";

/** What is said of a model's message that did not end by itself; undefined where there is nothing to say. */
export function endWords(reason: ModelEndReason): string | undefined {
  switch (reason) {
    case "endTurn":
    case "toolUse":
      return undefined;
    case "maxTokens":
      return "It may not write more in one message.";
    case "refused":
      return "The model, or its provider, refused.";
    case "stopped":
      return "You stopped it.";
    case "failed":
      return "There is no answer.";
    case "roundsLimit":
      return "It went to the tools as often as it may in one turn.";
    case "interrupted":
      return "Assent stopped in the middle of it.";
    default:
      return unreachable(reason);
  }
}

/** A way to go on from where the conversation ends. */
export interface GoOn {
  readonly label: "Retry" | "Continue";
  /** Retry asks the model again in place of its last message; a message asks it for more. */
  readonly by: "retry" | "message";
}

/** How the person goes on after a message that ended so; undefined where they just say something. */
export function goOnAfter(reason: ModelEndReason): GoOn | undefined {
  switch (reason) {
    case "endTurn":
    case "toolUse":
      return undefined;
    case "maxTokens":
      return { label: "Continue", by: "message" };
    case "roundsLimit":
      return { label: "Continue", by: "retry" };
    case "refused":
    case "stopped":
    case "failed":
    case "interrupted":
      return { label: "Retry", by: "retry" };
    default:
      return unreachable(reason);
  }
}

/** What a model was not sent, in words. */
export function leftOutWords(leftOut: LeftOut): string {
  const { messages = 0, toolResults = 0, tools = 0 } = leftOut;
  const parts = [
    ...(messages > 0 ? [count(messages, "earlier message")] : []),
    ...(toolResults > 0 ? [`the rest of ${count(toolResults, "long result")}`] : []),
    ...(tools > 0 ? [count(tools, "tool")] : []),
  ];
  const last = parts.pop() ?? "Something";
  const what = parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
  return `Left out, because it is more than the model takes: ${what}.`;
}
