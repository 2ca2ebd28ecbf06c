import type { Ask, Message } from "@assent/protocol";
import { Icon } from "../ui/Icon.tsx";

export interface TurnLineProps {
  /** Of the open task, whose turn is under way. */
  readonly messages: readonly Message[];
  readonly asks: readonly Ask[];
}

/** What a turn that is under way waits for. */
export function TurnLine({ messages, asks }: TurnLineProps) {
  const words = turnWords(messages, asks);
  return (
    <p role="status" className="turn-line muted">
      <Icon name={asks.length > 0 ? "question" : "loading"} spin={asks.length === 0} /> {words}
    </p>
  );
}

/** The newest message that is not over says what is awaited. */
export function turnWords(messages: readonly Message[], asks: readonly Ask[]): string {
  if (asks.length > 0) return "Waiting for your answer.";
  for (const { body } of messages.toReversed()) {
    if (body.type === "call" && body.result === undefined) return `Waiting for ${body.serverName}…`;
    if (body.type === "user") return "Reading what the servers offer…";
    if (body.type === "model") {
      if (body.end !== undefined) return "Going on…";
      const name = body.model?.name ?? "the model";
      return (body.progress?.text ?? "") === "" ? `Waiting for ${name}…` : `${name} is writing…`;
    }
  }
  return "Working…";
}
