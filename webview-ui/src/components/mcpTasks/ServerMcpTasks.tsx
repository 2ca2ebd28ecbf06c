import type { McpTaskEntry, McpTaskStatus, ServerMcpTask } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId, useState } from "react";
import { brief } from "../../lib/brief.ts";
import { when } from "../../lib/format.ts";
import type { ServerMcpTasks as OfServers } from "../../store/mcpTasks.ts";
import { onlyOfServers } from "../../store/mcpTasks.ts";
import { hasExpired } from "../call/mcpTaskWords.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";

export interface ServerMcpTasksProps {
  readonly ofServers: OfServers;
  /** The MCP tasks of known calls, which are not repeated here. */
  readonly entries: readonly McpTaskEntry[];
  /** The open task accepts calls. */
  readonly here: boolean;
  readonly now: number;
  /** Resolves to whether the sidecar accepted it. If not, the person is told. */
  readonly onFollow: (task: ServerMcpTask) => Promise<boolean>;
}

/**
 * The MCP tasks that only their servers know, as of the last listing. Following one creates a call, which shows its
 * questions, its end, and a button to cancel it.
 */
export function ServerMcpTasks(props: ServerMcpTasksProps) {
  const { ofServers, entries, here, now, onFollow } = props;
  const { listed, failure } = ofServers;
  const headingId = useId();
  const [following, setFollowing] = useState<string>();
  const tasks = onlyOfServers(listed?.mcpTasks ?? [], entries);
  const problems = listed?.problems ?? [];
  if (tasks.length === 0 && problems.length === 0 && failure === undefined) return undefined;
  const follow = async (task: ServerMcpTask) => {
    if (following !== undefined) return;
    setFollowing(keyOf(task));
    if (!(await onFollow(task))) setFollowing(undefined);
  };
  return (
    <section className="server-mcp-tasks" aria-labelledby={headingId}>
      <h3 id={headingId}>{l10n.t("Only on the servers")}</h3>
      {failure !== undefined && (
        <Refusal message={l10n.t("Some servers did not respond: {0}", failure)} />
      )}
      {problems.map(({ serverName, message }) => (
        <p key={`${serverName}\n${message}`} className="muted">
          {`${serverName}: ${brief(message)}`}
        </p>
      ))}
      <ul>
        {tasks.map((task) => (
          <li key={keyOf(task)} className="server-mcp-task">
            <Line task={task} now={now} />
            <button
              type="button"
              className="secondary small"
              aria-disabled={following !== undefined}
              aria-label={
                here
                  ? l10n.t(
                      "Follow in This Task: {0} of {1}",
                      brief(task.mcpTaskId),
                      task.serverName,
                    )
                  : l10n.t(
                      "Follow in a New Task: {0} of {1}",
                      brief(task.mcpTaskId),
                      task.serverName,
                    )
              }
              onClick={() => void follow(task)}
            >
              {here ? l10n.t("Follow in This Task") : l10n.t("Follow in a New Task")}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Servers list no tool with a task, so the task's name is its id. */
function Line({ task, now }: { readonly task: ServerMcpTask; readonly now: number }) {
  const { serverName, mcpTaskId, status, statusMessage = "" } = task;
  const expired = hasExpired(task, now);
  return (
    <>
      <span className="mcp-task-line">
        <Icon name={expired ? "history" : icons[status]} />
        <span className="task-line-title">
          <strong className="name">{brief(mcpTaskId)}</strong>{" "}
          <span className="muted">{l10n.t("of {0}, unknown tool", serverName)}</span>
        </span>
      </span>
      <span className="mcp-task-more muted">
        {[
          expired ? l10n.t("expired, last {0}", words[status]()) : words[status](),
          ...times(task, now),
        ].join(", ")}
      </span>
      {statusMessage !== "" && (
        <span className="mcp-task-more mcp-task-says">{brief(statusMessage)}</span>
      )}
    </>
  );
}

function keyOf({ serverName, mcpTaskId }: ServerMcpTask): string {
  return `${serverName}\n${mcpTaskId}`;
}

/** The latest time that a Date can hold. */
const lastTime = 8.64e15;

/** By the server's clock, which may be wrong. */
function times({ createdAt, lastUpdatedAt, expiresAt }: ServerMcpTask, now: number): string[] {
  const said = (time: number | undefined, words: (time: string) => string) =>
    time === undefined || Math.abs(time) > lastTime ? [] : [words(when(time, now))];
  return [
    ...said(createdAt, (time) => l10n.t("started {0}", time)),
    ...said(lastUpdatedAt, (time) => l10n.t("changed {0}", time)),
    ...said(expiresAt, (time) => l10n.t("kept until {0}", time)),
  ];
}

const words: Readonly<Record<McpTaskStatus, () => string>> = {
  working: () => l10n.t("working"),
  input_required: () => l10n.t("waiting for input"),
  completed: () => l10n.t("completed"),
  failed: () => l10n.t("failed"),
  cancelled: () => l10n.t("cancelled"),
};

const icons: Readonly<Record<McpTaskStatus, string>> = {
  working: "server-process",
  input_required: "bell-dot",
  completed: "pass",
  failed: "error",
  cancelled: "circle-slash",
};
