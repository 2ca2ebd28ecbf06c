import type { Server, ServerState, Transport } from "@assent/protocol";
import { useId } from "react";
import { unreachable } from "../../unreachable.ts";
import { Verbatim } from "../chat/ContentBlocks.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";

export interface ServerChoiceProps {
  readonly servers: readonly Server[];
  readonly chosen: Server | undefined;
  readonly onChoose: (serverName: string) => void;
  readonly onRestart: (serverName: string) => void;
  readonly onStop: (serverName: string) => void;
  /** Takes the focus when the runner is asked for. */
  readonly selectRef: React.Ref<HTMLSelectElement>;
}

/** Which server, and how it is doing. */
export function ServerChoice(props: ServerChoiceProps) {
  const { servers, chosen, onChoose, onRestart, onStop, selectRef } = props;
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Server</label>
      <select
        id={id}
        ref={selectRef}
        value={chosen?.name ?? ""}
        onChange={(event) => onChoose(event.target.value)}
      >
        <option value="" disabled>
          Choose a server…
        </option>
        {servers.map(({ name, state }) => (
          <option key={name} value={name}>
            {name} ({stateWords(state)})
          </option>
        ))}
      </select>
      {chosen !== undefined && <ServerLine server={chosen} onRestart={onRestart} onStop={onStop} />}
    </div>
  );
}

interface ServerLineProps {
  readonly server: Server;
  readonly onRestart: (serverName: string) => void;
  readonly onStop: (serverName: string) => void;
}

function ServerLine({ server, onRestart, onStop }: ServerLineProps) {
  const { name, command, state, reason, stderr = [] } = server;
  const { transport, protocolVersion = "" } = server;
  return (
    <div className={`server-line server-${state}`}>
      <p>
        <Icon name={stateIcon(state)} spin={state === "starting"} />
        <span>{reason === undefined || reason === "" ? stateWords(state) : reason}</span>
        {(state === "failed" || state === "running") && (
          <button type="button" className="link" onClick={() => onRestart(name)}>
            Restart Server
          </button>
        )}
        {(state === "starting" || state === "running") && (
          <button type="button" className="link" onClick={() => onStop(name)}>
            Stop Server
          </button>
        )}
      </p>
      <p className="muted server-detail">
        {transportWords(transport)}
        {protocolVersion !== "" && `, MCP ${protocolVersion}`}
      </p>
      {state === "failed" && (
        <>
          <p className="muted server-detail server-command">{command}</p>
          {stderr.length > 0 && (
            <Disclosure
              keep={`stderr:${name}`}
              summary="What the server last wrote to stderr"
              initiallyOpen
            >
              <Verbatim text={stderr.join("\n")} />
            </Disclosure>
          )}
        </>
      )}
    </div>
  );
}

function stateWords(state: ServerState): string {
  switch (state) {
    case "stopped":
      return "stopped";
    case "starting":
      return "starting";
    case "running":
      return "running";
    case "failed":
      return "failed";
    default:
      return unreachable(state);
  }
}

function transportWords(transport: Transport): string {
  switch (transport) {
    case "stdio":
      return "stdio";
    case "http":
      return "Streamable HTTP";
    case "sse":
      return "HTTP with SSE";
    case "ws":
      return "WebSocket";
    default:
      return unreachable(transport);
  }
}

function stateIcon(state: ServerState): string {
  switch (state) {
    case "stopped":
      return "circle-outline";
    case "starting":
      return "loading";
    case "running":
      return "circle-filled";
    case "failed":
      return "error";
    default:
      return unreachable(state);
  }
}
