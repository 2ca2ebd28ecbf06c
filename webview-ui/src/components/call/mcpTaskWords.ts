import type { McpTask, McpTaskStatus } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { own } from "../../view/viewState.ts";

export interface McpTaskWords {
  readonly icon: string;
  readonly spin: boolean;
  readonly words: string;
}

/** The state of an MCP task while its call has no result: the last state that the server reported. */
export function mcpTaskWords(task: McpTask, now: number): McpTaskWords {
  const { status, cancelling = false, problem = "" } = task;
  const known = own<Status>(statuses, status);
  const icon = known?.icon ?? "loading";
  const words = known?.words() ?? status;
  if (hasExpired(task, now)) {
    return { icon: "history", spin: false, words: l10n.t("expired, last {0}", words) };
  }
  if (problem !== "") {
    return {
      icon: "debug-disconnect",
      spin: false,
      words: l10n.t("{0} at the last update", words),
    };
  }
  return {
    icon,
    spin: icon === "loading",
    words: cancelling && !isFinal(status) ? l10n.t("cancelling") : words,
  };
}

/** Whether the server has reported a final state. Only the result is missing. */
export function isFinal(status: McpTaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** Whether the server may have deleted the task before its end was known. */
export function hasExpired(
  { status, expiresAt }: { readonly status: McpTaskStatus; readonly expiresAt?: number },
  now: number,
): boolean {
  return expiresAt !== undefined && expiresAt <= now && !isFinal(status);
}

interface Status {
  readonly icon: string;
  readonly words: () => string;
}

const statuses: Readonly<Record<McpTaskStatus, Status>> = {
  working: { icon: "loading", words: () => l10n.t("working") },
  input_required: { icon: "bell-dot", words: () => l10n.t("waiting for input") },
  completed: { icon: "loading", words: () => l10n.t("completed, fetching the result") },
  failed: { icon: "loading", words: () => l10n.t("failed, fetching the reason") },
  cancelled: { icon: "circle-slash", words: () => l10n.t("cancelled") },
};
