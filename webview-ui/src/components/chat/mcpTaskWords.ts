import type { McpTask, McpTaskStatus } from "@assent/protocol";
import { own } from "../../viewState.ts";

export interface McpTaskWords {
  readonly icon: string;
  readonly spin: boolean;
  readonly words: string;
}

/** How an MCP task is, as long as its call has no result: the server's last word, not our wish. */
export function mcpTaskWords({ status, cancelling = false, problem = "" }: McpTask): McpTaskWords {
  const { icon, words } = own<Omit<McpTaskWords, "spin">>(statuses, status) ?? {
    icon: "loading",
    words: status,
  };
  if (problem !== "")
    return { icon: "debug-disconnect", spin: false, words: `${words} when last heard of` };
  return {
    icon,
    spin: icon === "loading",
    words: cancelling && !isFinal(status) ? "cancelling" : words,
  };
}

/** The server has said its last word; what is left is to fetch the result. */
export function isFinal(status: McpTaskStatus): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}

const statuses: Readonly<Record<McpTaskStatus, Omit<McpTaskWords, "spin">>> = {
  working: { icon: "loading", words: "working" },
  input_required: { icon: "bell-dot", words: "waiting for input" },
  completed: { icon: "loading", words: "completed, fetching the result" },
  failed: { icon: "loading", words: "failed, fetching the reason" },
  cancelled: { icon: "circle-slash", words: "cancelled" },
};
