import type {
  ProgramPlace,
  ServerEra,
  ServerLogFrom,
  ServerState,
  Transport,
} from "@assent/protocol";
import { unreachable } from "../../unreachable.ts";

export function stateWords(state: ServerState): string {
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

export function transportWords(transport: Transport): string {
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

export function stateIcon(state: ServerState): string {
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

/** How a server of this era asks. */
export function eraWords(era: ServerEra): string {
  switch (era) {
    case "modern":
      return "asks in its results";
    case "legacy":
      return "asks by requests of its own";
    default:
      return unreachable(era);
  }
}

/** Where a program was found. */
export function placeWords(place: ProgramPlace): string {
  switch (place) {
    case "path":
      return "at its path";
    case "PATH":
      return "in PATH";
    case "loginShell":
      return "in the PATH of your login shell only, which the server gets too";
    case "usualFolder":
      return "in a folder where programs often are, which is not in PATH and is added to it";
    default:
      return unreachable(place);
  }
}

/** Where a line of the log came from. */
export function fromWords(from: ServerLogFrom): string {
  switch (from) {
    case "stderr":
      return "stderr";
    case "stdout":
      return "not MCP";
    case "message":
      return "log";
    case "assent":
      return "Assent:";
    default:
      return unreachable(from);
  }
}
