import type { ServerInspection, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { elapsed, taskTitle, when } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { Part } from "./Part.tsx";

export interface ServerActivityProps {
  readonly known: ServerInspection;
  readonly tasks: readonly Task[];
  readonly now: number;
  /** Shows a message of a task. */
  readonly onOpen: (taskId: string, messageId: number) => void;
}

/** The running calls and the open connections. */
export function ServerActivity({ known, tasks, now, onOpen }: ServerActivityProps) {
  const { connections = [], calls = [], handshake } = known;
  // A connection of a legacy server serves one conversation, which may not have needed it yet.
  const ofNone =
    handshake?.era === "legacy"
      ? l10n.t("no conversation has used it yet")
      : l10n.t("for every conversation");
  // The conversation may have been renamed since.
  const titleOf = (taskId: string, title = "") =>
    taskTitle(tasks.find(({ id }) => id === taskId) ?? { title });
  return (
    <Part heading={l10n.t("Calls")}>
      {calls.length === 0 && <p className="muted">{l10n.t("No call is running.")}</p>}
      <ul aria-label={l10n.t("Running calls")}>
        {calls.map(({ taskId, title, messageId, toolName, resourceUri, since }) => (
          <li key={`${taskId}:${messageId}:${since}`}>
            <button
              type="button"
              className="task-option"
              title={l10n.t("Show in the conversation")}
              onClick={() => onOpen(taskId, messageId)}
            >
              <strong className="name">
                {visible(toolName ?? resourceUri ?? l10n.t("a prompt"))}
              </strong>{" "}
              <span className="muted">
                {l10n.t("{0}, in {1}", elapsed(now - since), titleOf(taskId, title))}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {connections.length > 0 && (
        <ul aria-label={l10n.t("Connections")} className="muted">
          {connections.map(({ taskId, title, since, pid, openAsks = 0 }) => (
            <li key={`${taskId ?? ""}:${since}:${pid ?? ""}`}>
              {[
                l10n.t("Connected since {0}", when(since)),
                ...(pid === undefined ? [] : [l10n.t("process {0}", pid)]),
                taskId === undefined ? ofNone : l10n.t("for {0}", titleOf(taskId, title)),
                ...(openAsks === 0 ? [] : [waitingWords(openAsks)]),
              ].join(", ")}
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}

function waitingWords(openAsks: number): string {
  return plural(
    openAsks,
    l10n.t("1 question waiting for you"),
    l10n.t("{0} questions waiting for you"),
  );
}
