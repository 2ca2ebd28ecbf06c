import type { McpTask } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { when } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { isFinal } from "./mcpTaskWords.ts";

export interface McpTaskDetailsProps {
  readonly task: McpTask;
  /** The call has its result, so nothing is pending. */
  readonly ended: boolean;
  /** A question of the task is open and shown beside it. */
  readonly waits: boolean;
  readonly now: number;
  /** The id of the text that explains giving up, for its button. */
  readonly cancellingId: string;
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
}

/** The server's status of its MCP task, the pending input, and Assent's own knowledge of it. */
export function McpTaskDetails(props: McpTaskDetailsProps) {
  const { task, ended, waits, now, cancellingId, keep } = props;
  const { taskId, status, statusMessage = "", expiresAt, cancelling = false, problem = "" } = task;
  return (
    <div className="mcp-task">
      {statusMessage !== "" && <p className="name">{brief(statusMessage)}</p>}
      {!ended && (
        <>
          {status === "input_required" && !waits && <p>{l10n.t("It waits for input.")}</p>}
          <p id={cancellingId} role="status">
            {cancelling &&
              !isFinal(status) &&
              l10n.t(
                "Waiting for the server to cancel. Give Up stops waiting; the server may go on.",
              )}
          </p>
          {problem !== "" && (
            <p className="mcp-task-problem">
              <Icon name="warning" />
              <span>
                {l10n.t("The server does not respond: {0} Assent keeps trying.", visible(problem))}
              </span>
            </p>
          )}
        </>
      )}
      <Disclosure keep={`${keep}:mcpTask`} summary={l10n.t("MCP task")}>
        <p className="muted">
          {filled(l10n.t("ID: {0}"), <span className="name">{brief(taskId)}</span>)}
        </p>
        {!ended && expiresAt !== undefined && <p className="muted">{expiry(expiresAt, now)}</p>}
      </Disclosure>
    </div>
  );
}

/** The latest time that a Date can hold. */
const lastTime = 8.64e15;

function expiry(expiresAt: number, now: number): string {
  if (Math.abs(expiresAt) > lastTime) return "";
  return expiresAt > now
    ? l10n.t("The server may delete it after {0}.", when(expiresAt, now))
    : l10n.t("The server may have deleted it after {0}.", when(expiresAt, now));
}
