import type { Task } from "@assent/protocol";
import { useEffect, useId, useRef } from "react";
import { type AsksOfTask, byTask, type Inbox } from "../../state/inbox.ts";
import { taskTitle } from "../tasks/TaskLine.tsx";
import { ListPanel } from "../ui/ListPanel.tsx";
import { useNow } from "../ui/useNow.ts";
import { count } from "../ui/words.ts";
import { OpenAskLine } from "./OpenAskLine.tsx";

export interface OpenAsksProps {
  readonly inbox: Inbox;
  readonly tasks: readonly Task[];
  readonly onOpen: (taskId: string, messageId: number) => void;
  readonly onRetry: () => void;
  readonly onClose: () => void;
}

/** The questions of all servers and conversations that wait for the person, the oldest first. */
export function OpenAsks({ inbox, tasks, onOpen, onRetry, onClose }: OpenAsksProps) {
  const { entries, truncated, reading, failure } = inbox;
  const now = useNow(entries !== undefined && entries.length > 0);
  const rows = useRef<HTMLDivElement>(null);
  // The panel has the focus at first; the oldest question is of more use to the Enter key.
  useEffect(() => rows.current?.querySelector("button")?.focus(), []);
  return (
    <ListPanel
      heading="Open questions"
      closeLabel="Close the List of Open Questions"
      busy={reading}
      {...{ failure, onRetry, onClose }}
    >
      {entries?.length === 0 && <p className="muted">No question waits for you.</p>}
      <div ref={rows}>
        {byTask(entries ?? []).map((group) => (
          <TaskAsks key={group.taskId} {...{ group, tasks, now, onOpen }} />
        ))}
      </div>
      {truncated && (
        <p className="muted">
          These are the oldest {count(entries?.length ?? 0, "question")}. More wait behind them.
        </p>
      )}
    </ListPanel>
  );
}

interface TaskAsksProps {
  readonly group: AsksOfTask;
  readonly tasks: readonly Task[];
  readonly now: number;
  readonly onOpen: (taskId: string, messageId: number) => void;
}

function TaskAsks({ group: { taskId, title, asks }, tasks, now, onOpen }: TaskAsksProps) {
  const headingId = useId();
  // A conversation may have been renamed since the list was read.
  const task = tasks.find(({ id }) => id === taskId) ?? { title };
  return (
    <>
      <h3 id={headingId} className="open-asks-of">
        {taskTitle(task)}
      </h3>
      <ul aria-labelledby={headingId}>
        {asks.map((ask) => (
          <li key={ask.askId}>
            <button
              type="button"
              className="task-option"
              onClick={() => onOpen(ask.taskId, ask.messageId)}
            >
              <OpenAskLine ask={ask} now={now} />
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
