import type { CallRequest, McpTaskEntry } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { briefly, elapsed } from "../../lib/format.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import { describeCall, foundMcpTask } from "../call/callWords.ts";
import { Icon } from "../ui/Icon.tsx";

export interface McpTaskLineProps {
  readonly entry: McpTaskEntry;
  /** The conversation's title, if it is known. */
  readonly title: string;
  readonly now: number;
}

/** An MCP task in a list: the called tool, its state, and its conversation. */
export function McpTaskLine({ entry: { call, time }, title, now }: McpTaskLineProps) {
  const { serverName, request, task, result } = call;
  const { icon, spin, words } = describeCall(call, now);
  const message = task?.statusMessage ?? "";
  return (
    <>
      <span className="mcp-task-line">
        <Icon name={icon} spin={spin} />
        <span className="task-line-title">
          <strong className="name">{visible(nameOf(request))}</strong>{" "}
          <span className="muted">{l10n.t("of {0}", serverName)}</span>
        </span>
      </span>
      <span className="mcp-task-more muted">
        {words}
        {result === undefined ? ` ${elapsed(now - time)}` : `, ${briefly(time, now)}`}
        {`, ${l10n.t("in {0}", title)}`}
      </span>
      {message !== "" && <span className="mcp-task-more mcp-task-says">{brief(message)}</span>}
    </>
  );
}

function nameOf(request: CallRequest): string {
  switch (request.type) {
    case "tools/call":
      return request.title ?? request.toolName;
    case "resources/read":
      return request.uri;
    case "prompts/get":
      return request.promptName;
    case "tasks/result":
      return foundMcpTask();
    default:
      return unreachable(request);
  }
}
