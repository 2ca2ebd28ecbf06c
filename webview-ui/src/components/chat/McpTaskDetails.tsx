import type { McpTask } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useContext } from "react";
import { filled } from "../../l10n.ts";
import { brief } from "../ui/brief.ts";
import { Icon } from "../ui/Icon.tsx";
import { visible } from "../ui/visible.ts";
import { when } from "../ui/words.ts";
import { isFinal } from "./mcpTaskWords.ts";
import { ShowContext } from "./ShowContext.ts";

export interface McpTaskDetailsProps {
  readonly task: McpTask;
  /** The call has its result: nothing is waited for any more. */
  readonly ended: boolean;
  /** An open ask that the task waits for. */
  readonly waitsFor: string | undefined;
  readonly now: number;
  /** Names what giving up means, for the button that does. */
  readonly cancellingId: string;
}

/** What a server says of its long-running task, what it waits for, and what Assent knows of it. */
export function McpTaskDetails(props: McpTaskDetailsProps) {
  const { task, ended, waitsFor, now, cancellingId } = props;
  const { taskId, status, statusMessage = "", expiresAt, cancelling = false, problem = "" } = task;
  return (
    <div className="mcp-task">
      {statusMessage !== "" && <p className="name">{brief(statusMessage)}</p>}
      {!ended && (
        <>
          {status === "input_required" && <WaitsFor askId={waitsFor} />}
          <p id={cancellingId} role="status">
            {cancelling &&
              !isFinal(status) &&
              l10n.t(
                "Asked to cancel, waiting for the server. Giving up stops the waiting here; the server may go on.",
              )}
          </p>
          {problem !== "" && (
            <p className="mcp-task-problem">
              <Icon name="warning" />
              <span>
                {l10n.t(
                  "The server cannot be asked at present: {0} Assent goes on trying.",
                  visible(problem),
                )}
              </span>
            </p>
          )}
        </>
      )}
      <p className="muted">
        {filled(l10n.t("MCP task {0}"), <span className="name">{brief(taskId)}</span>)}
        {!ended && expiresAt !== undefined && expiry(expiresAt, now)}
      </p>
    </div>
  );
}

function WaitsFor({ askId }: { readonly askId: string | undefined }) {
  const show = useContext(ShowContext);
  if (askId === undefined) return <p>{l10n.t("It waits for input.")}</p>;
  return (
    <p>
      {l10n.t("It waits for your answer.")}{" "}
      <button type="button" className="link" onClick={() => show(askId)}>
        {l10n.t("Show Question")}
      </button>
    </p>
  );
}

/** The furthest time that a Date can hold. */
const lastTime = 8.64e15;

function expiry(expiresAt: number, now: number): string {
  if (Math.abs(expiresAt) > lastTime) return "";
  return expiresAt > now
    ? `, ${l10n.t("may be forgotten by the server at {0}", when(expiresAt, now))}`
    : `, ${l10n.t("may have been forgotten by the server since {0}", when(expiresAt, now))}`;
}
