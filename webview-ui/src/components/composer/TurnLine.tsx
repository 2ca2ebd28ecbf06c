import type { AwaitedServers, Message, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { elapsed } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { Icon } from "../ui/Icon.tsx";
import { useNow } from "../ui/useNow.ts";

export interface TurnLineProps {
  /** The open task. */
  readonly task: Task;
  /** The messages of the open task, in which a turn is running. */
  readonly messages: readonly Message[];
  readonly actions: Pick<Actions, "skipServers">;
}

/** Says what a running turn waits for. If it waits for the person, the dock says so. */
export function TurnLine({ task, messages, actions }: TurnLineProps) {
  if (task.awaits !== undefined) {
    return <AwaitedLine awaits={task.awaits} onSkip={() => actions.skipServers(task.id)} />;
  }
  const words = turnWords(messages);
  return (
    <p role="status" className="turn-line muted">
      <Icon name="loading" spin /> {words}
    </p>
  );
}

interface AwaitedLineProps {
  readonly awaits: AwaitedServers;
  readonly onSkip: () => void;
}

/** Names the servers that the turn waits for. The seconds are not read aloud. */
function AwaitedLine({ awaits, onSkip }: AwaitedLineProps) {
  const waited = elapsed(useNow(true) - awaits.since);
  return (
    <div className="turn-line muted">
      <Icon name="loading" spin />
      <p role="status">{l10n.t("Starting {0}", visible((awaits.serverNames ?? []).join(", ")))}</p>
      <span aria-hidden="true">{waited}</span>
      <button type="button" className="link" onClick={onSkip}>
        {l10n.t("Skip")}
      </button>
    </div>
  );
}

/** The newest unfinished message determines the text. */
function turnWords(messages: readonly Message[]): string {
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
