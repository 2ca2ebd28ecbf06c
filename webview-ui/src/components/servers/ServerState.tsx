import type { ServerState as State } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { Icon } from "../ui/Icon.tsx";
import { stateIcon, stateWords } from "./serverWords.ts";

export interface ServerStateProps {
  readonly state: State;
  /** The organisation does not let the server be used. */
  readonly blocked?: boolean;
}

/** A server's state as an icon and a word. */
export function ServerState({ state, blocked = false }: ServerStateProps) {
  if (blocked) {
    return (
      <span className="server-state server-failed">
        <Icon name="circle-slash" />
        <span>{l10n.t("blocked")}</span>
      </span>
    );
  }
  return (
    <span className={`server-state server-${state}`}>
      <Icon name={stateIcon(state)} spin={state === "starting"} />
      <span>{stateWords(state)}</span>
    </span>
  );
}
