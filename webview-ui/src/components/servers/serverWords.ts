import type {
  ProgramPlace,
  ServerEra,
  ServerLogFrom,
  ServerState,
  Transport,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { unreachable } from "../../lib/unreachable.ts";

export function stateWords(state: ServerState): string {
  switch (state) {
    case "stopped":
      return l10n.t("stopped");
    case "starting":
      return l10n.t("starting");
    case "running":
      return l10n.t("running");
    case "failed":
      return l10n.t("failed");
    default:
      return unreachable(state);
  }
}

export function transportWords(transport: Transport): string {
  switch (transport) {
    case "stdio":
      return "stdio";
    case "http":
      return l10n.t("Streamable HTTP");
    case "sse":
      return l10n.t("HTTP with SSE");
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

/** The heading of this kind of offers. */
export function kindWords(kind: "tools" | "resources" | "prompts"): string {
  switch (kind) {
    case "tools":
      return l10n.t("Tools");
    case "resources":
      return l10n.t("Resources");
    case "prompts":
      return l10n.t("Prompts");
    default:
      return unreachable(kind);
  }
}

/** Describes how servers of this era ask. */
export function eraWords(era: ServerEra): string {
  switch (era) {
    case "modern":
      return l10n.t("asks in its results");
    case "legacy":
      return l10n.t("sends its own requests");
    default:
      return unreachable(era);
  }
}

/** Describes where a program was found. */
export function placeWords(place: ProgramPlace): string {
  switch (place) {
    case "path":
      return l10n.t("at its path");
    case "PATH":
      return l10n.t("in PATH");
    case "loginShell":
      return l10n.t("only in the PATH of your login shell; Assent adds it");
    case "usualFolder":
      return l10n.t("in a common program folder that is not in PATH; Assent adds it");
    default:
      return unreachable(place);
  }
}

/** Names the source of a log line. */
export function fromWords(from: ServerLogFrom): string {
  switch (from) {
    case "stderr":
      return "stderr";
    case "stdout":
      return l10n.t("not MCP");
    case "message":
      return l10n.t("log");
    case "assent":
      return "Assent:";
    default:
      return unreachable(from);
  }
}
