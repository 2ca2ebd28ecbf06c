import type { Message } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import { Icon } from "../ui/Icon.tsx";

export interface TurnLineProps {
  /** The messages of the open task, in which a turn is running. */
  readonly messages: readonly Message[];
}

/** Says what a running turn waits for. If it waits for the person, the dock says so. */
export function TurnLine({ messages }: TurnLineProps) {
  const words = turnWords(messages);
  return (
    <p role="status" className="turn-line muted">
      <Icon name="loading" spin /> {words}
    </p>
  );
}

/** The newest unfinished message determines the text. */
export function turnWords(messages: readonly Message[]): string {
  for (const { body } of messages.toReversed()) {
    if (body.type === "call" && body.result === undefined) {
      return l10n.t("Waiting for {0}…", body.serverName);
    }
    if (body.type === "user") return l10n.t("Reading what the servers offer…");
    if (body.type === "model") {
      if (body.end !== undefined) return l10n.t("Working…");
      const name = visible(body.model?.name ?? l10n.t("the model"));
      return (body.progress?.text ?? "") === ""
        ? l10n.t("Waiting for {0}…", name)
        : l10n.t("{0} is writing…", name);
    }
  }
  return l10n.t("Working…");
}
