import type { ServerState as State } from "@assent/protocol";
import { Icon } from "../ui/Icon.tsx";
import { stateIcon, stateWords } from "./serverWords.ts";

export interface ServerStateProps {
  readonly state: State;
}

/** A server's state as an icon and a word. */
export function ServerState({ state }: ServerStateProps) {
  return (
    <span className={`server-state server-${state}`}>
      <Icon name={stateIcon(state)} spin={state === "starting"} />
      <span>{stateWords(state)}</span>
    </span>
  );
}
