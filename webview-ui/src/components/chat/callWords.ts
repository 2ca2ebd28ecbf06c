import type { Call, CallResult } from "@assent/protocol";
import { unreachable } from "../../unreachable.ts";
import { type McpTaskWords, mcpTaskWords } from "./mcpTaskWords.ts";

/** What stands in the place of a tool's name where a task was found in its server's list. */
export const foundMcpTask = "Found MCP task";

/** How a call is, or how it ended. */
export function describeCall({ result, task }: Call): McpTaskWords {
  if (result !== undefined) return { spin: false, ...describeResult(result) };
  return task === undefined
    ? { icon: "loading", spin: true, words: "running" }
    : mcpTaskWords(task);
}

function describeResult(result: CallResult): Omit<McpTaskWords, "spin"> {
  switch (result.type) {
    case "result":
      return result.isError ? { icon: "error", words: "failed" } : { icon: "pass", words: "done" };
    case "prompt":
      return { icon: "pass", words: "done" };
    case "error":
      return { icon: "error", words: "refused" };
    case "cancelled":
      return { icon: "circle-slash", words: "cancelled" };
    case "abandoned":
      return { icon: "stop-circle", words: "abandoned" };
    case "lost":
      return { icon: "debug-disconnect", words: "lost" };
    default:
      return unreachable(result);
  }
}
