import type { Call, CallResult } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { unreachable } from "../../lib/unreachable.ts";
import { type McpTaskWords, mcpTaskWords } from "./mcpTaskWords.ts";

/** Replaces the tool's name for an MCP task that came from its server's list. */
export const foundMcpTask = (): string => l10n.t("Found MCP task");

/** The state of a call, or how it ended. */
export function describeCall({ result, task }: Call, now: number): McpTaskWords {
  if (result !== undefined) return { spin: false, ...describeResult(result) };
  return task === undefined
    ? { icon: "loading", spin: true, words: l10n.t("running") }
    : mcpTaskWords(task, now);
}

function describeResult(result: CallResult): Omit<McpTaskWords, "spin"> {
  switch (result.type) {
    case "result":
      return result.isError
        ? { icon: "error", words: l10n.t("failed") }
        : { icon: "pass", words: l10n.t("done") };
    case "prompt":
      return { icon: "pass", words: l10n.t("done") };
    case "error":
      return { icon: "error", words: l10n.t("refused") };
    case "cancelled":
      return { icon: "circle-slash", words: l10n.t("cancelled") };
    case "abandoned":
      return { icon: "stop-circle", words: l10n.t("abandoned") };
    case "lost":
      return { icon: "debug-disconnect", words: l10n.t("lost") };
    default:
      return unreachable(result);
  }
}
