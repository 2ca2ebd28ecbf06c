import type { ServerInspection, Task } from "@assent/protocol";
import { taskTitle } from "../tasks/TaskLine.tsx";
import { visible } from "../ui/visible.ts";
import { count, elapsed, when } from "../ui/words.ts";
import { Part } from "./Part.tsx";

export interface ServerActivityProps {
  readonly known: ServerInspection;
  readonly tasks: readonly Task[];
  readonly now: number;
  /** Shows a message of a task. */
  readonly onOpen: (taskId: string, messageId: number) => void;
}

/** The calls under way and the connections that are ready. */
export function ServerActivity({ known, tasks, now, onOpen }: ServerActivityProps) {
  const { connections = [], calls = [], handshake } = known;
  // One of an older server serves one conversation alone, once that needs it.
  const ofNone =
    handshake?.era === "legacy"
      ? ", which no conversation has needed yet"
      : ", for every conversation";
  // A conversation may have been renamed since.
  const titleOf = (taskId: string, title = "") =>
    taskTitle(tasks.find(({ id }) => id === taskId) ?? { title });
  return (
    <Part heading="Calls">
      {calls.length === 0 && <p className="muted">No call is under way.</p>}
      <ul aria-label="Calls under way">
        {calls.map(({ taskId, title, messageId, toolName, resourceUri, since }) => (
          <li key={`${taskId}:${messageId}:${since}`}>
            <button
              type="button"
              className="task-option"
              title="Show in the conversation"
              onClick={() => onOpen(taskId, messageId)}
            >
              <strong className="name">{visible(toolName ?? resourceUri ?? "a prompt")}</strong>{" "}
              <span className="muted">
                {elapsed(now - since)}, in {titleOf(taskId, title)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {connections.length > 0 && (
        <ul aria-label="Connections" className="muted">
          {connections.map(({ taskId, title, since, pid, openAsks = 0 }) => (
            <li key={`${taskId ?? ""}:${since}:${pid ?? ""}`}>
              Connected since {when(since)}
              {pid !== undefined && `, process ${pid}`}
              {taskId === undefined ? ofNone : `, for ${titleOf(taskId, title)}`}
              {openAsks > 0 && `, ${count(openAsks, "question")} waiting for you`}
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}
