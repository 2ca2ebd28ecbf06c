import type { McpTaskEntry, McpTaskStatus, ServerMcpTask } from "@assent/protocol";
import { useId, useState } from "react";
import { onlyOfServers } from "../../state/mcpTasks.ts";
import type { ServerMcpTasks as OfServers } from "../../state/state.ts";
import { brief } from "../ui/brief.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { when } from "../ui/words.ts";

export interface ServerMcpTasksProps {
  readonly ofServers: OfServers;
  /** The MCP tasks that calls have: they are not shown twice. */
  readonly entries: readonly McpTaskEntry[];
  /** A task is open that takes calls. */
  readonly here: boolean;
  readonly now: number;
  /** Says whether it was taken; the person is told where it was not. */
  readonly onFollow: (task: ServerMcpTask) => Promise<boolean>;
}

/**
 * The MCP tasks that only their servers know, as they were when the list was opened. Following one
 * makes it a call, which has all the rest: its questions, its end, and the way to cancel it.
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
    <section aria-labelledby={headingId}>
      <h3 id={headingId}>Known only to their servers</h3>
      {failure !== undefined && <Refusal message={`Servers could not be asked: ${failure}`} />}
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
              aria-label={`${here ? "Follow in This Task" : "Follow in a New Task"}: ${brief(task.mcpTaskId)} of ${task.serverName}`}
              onClick={() => void follow(task)}
            >
              {here ? "Follow in This Task" : "Follow in a New Task"}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A server lists no tool with a task, so it has no name but its id. */
function Line({ task, now }: { readonly task: ServerMcpTask; readonly now: number }) {
  const { serverName, mcpTaskId, status, statusMessage = "" } = task;
  return (
    <>
      <span className="mcp-task-line">
        <Icon name={icons[status]} />
        <span className="task-line-title">
          <strong className="name">{brief(mcpTaskId)}</strong>{" "}
          <span className="muted">of {serverName}, its tool is not known</span>
        </span>
      </span>
      <span className="mcp-task-more muted">{[words[status], ...times(task, now)].join(", ")}</span>
      {statusMessage !== "" && (
        <span className="mcp-task-more mcp-task-says">{brief(statusMessage)}</span>
      )}
    </>
  );
}

function keyOf({ serverName, mcpTaskId }: ServerMcpTask): string {
  return `${serverName}\n${mcpTaskId}`;
}

/** The furthest time that a Date can hold. */
const lastTime = 8.64e15;

/** By the server's clock, which may be wrong. */
function times({ createdAt, lastUpdatedAt, expiresAt }: ServerMcpTask, now: number): string[] {
  const said: readonly (readonly [string, number | undefined])[] = [
    ["begun", createdAt],
    ["changed", lastUpdatedAt],
    ["kept until", expiresAt],
  ];
  return said.flatMap(([what, time]) =>
    time === undefined || Math.abs(time) > lastTime ? [] : [`${what} ${when(time, now)}`],
  );
}

const words: Readonly<Record<McpTaskStatus, string>> = {
  working: "working",
  input_required: "waiting for input",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

const icons: Readonly<Record<McpTaskStatus, string>> = {
  working: "server-process",
  input_required: "bell-dot",
  completed: "pass",
  failed: "error",
  cancelled: "circle-slash",
};
