import type { Message } from "@assent/protocol";
import { Icon } from "../ui/Icon.tsx";

export interface TurnLineProps {
  /** Of the open task, whose turn is under way. */
  readonly messages: readonly Message[];
}

/** What a turn that is under way waits for; where that is the person, the bar of open questions says so. */
export function TurnLine({ messages }: TurnLineProps) {
  const words = turnWords(messages);
  return (
    <p role="status" className="turn-line muted">
      <Icon name="loading" spin /> {words}
    </p>
  );
}

/** The newest message that is not over says what is awaited. */
export function turnWords(messages: readonly Message[]): string {
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
