import type { McpTaskEntry, ServerMcpTask, Task } from "@assent/protocol";
import { useEffect, useId, useRef } from "react";
import { isUnderWay } from "../../state/mcpTasks.ts";
import type { McpTasks as Known, ServerMcpTasks as OfServers } from "../../state/state.ts";
import { taskTitle } from "../tasks/TaskLine.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { useNow } from "../ui/useNow.ts";
import { McpTaskLine } from "./McpTaskLine.tsx";
import { ServerMcpTasks } from "./ServerMcpTasks.tsx";

export interface McpTasksProps {
  readonly known: Known;
  readonly ofServers: OfServers;
  /** A task is open that takes calls. */
  readonly here: boolean;
  readonly tasks: readonly Task[];
  readonly onOpen: (taskId: string, messageId: number) => void;
  /** Says whether it was taken; the person is told where it was not. */
  readonly onFollow: (task: ServerMcpTask) => Promise<boolean>;
  readonly onRetry: () => void;
  readonly onClose: () => void;
}

/** The MCP tasks of all servers and conversations, with those that outlived their window. */
export function McpTasks(props: McpTasksProps) {
  const { known, ofServers, here, tasks, onOpen, onFollow, onRetry, onClose } = props;
  const { entries, failure } = known;
  const headingId = useId();
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.focus(), []);
  const running = entries?.filter(isUnderWay) ?? [];
  const ended = entries?.filter((entry) => !isUnderWay(entry)) ?? [];
  const now = useNow(running.length > 0);
  const list = (some: readonly McpTaskEntry[]) => (
    <ul>
      {some.map((entry) => (
        <li key={`${entry.taskId}:${entry.messageId}`}>
          <button
            type="button"
            className="task-option"
            onClick={() => onOpen(entry.taskId, entry.messageId)}
          >
            <McpTaskLine entry={entry} title={titleOf(entry, tasks)} now={now} />
          </button>
        </li>
      ))}
    </ul>
  );
  return (
    <section
      ref={section}
      className="mcp-tasks"
      aria-labelledby={headingId}
      aria-busy={known.reading}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onClose();
      }}
    >
      <header className="mcp-tasks-head">
        <h2 id={headingId}>MCP tasks</h2>
        <IconButton icon="close" label="Close the List of MCP Tasks" onClick={onClose} />
      </header>
      {failure !== undefined && (
        <>
          <Refusal message={`The list could not be read: ${failure}`} />
          <button type="button" className="secondary small" onClick={onRetry}>
            Try Again
          </button>
        </>
      )}
      {entries !== undefined && running.length === 0 && (
        <p className="mcp-tasks-none muted">No MCP task is under way.</p>
      )}
      {running.length > 0 && list(running)}
      {ended.length > 0 && (
        <Disclosure
          keep="mcp-tasks-ended"
          summary={`${ended.length} ended`}
          initiallyOpen={running.length === 0}
        >
          {list(ended)}
        </Disclosure>
      )}
      <ServerMcpTasks {...{ ofServers, here, now, onFollow }} entries={entries ?? []} />
    </section>
  );
}

/** A conversation may have been renamed since the list was read. */
function titleOf({ taskId, title }: McpTaskEntry, tasks: readonly Task[]): string {
  return taskTitle(tasks.find(({ id }) => id === taskId) ?? { title });
}
