import type { Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { briefly, taskTitle, toTheSecond } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";
import { Icon } from "../ui/Icon.tsx";

export interface TaskLineProps {
  readonly task: Task;
  /** Another task of the list has the same title, so that the time tells them apart. */
  readonly isTwin?: boolean;
}

/** A task in a list: its title, its state, and the number of its open asks. */
export function TaskLine({ task, isTwin = false }: TaskLineProps) {
  const { createdAt, closed = false, openAsks, running = false } = task;
  const states = [
    ...(closed ? [l10n.t("closed")] : []),
    ...(isTwin ? [toTheSecond(createdAt)] : closed ? [] : [briefly(createdAt)]),
  ];
  return (
    <span className="task-line">
      <span className="task-line-title">{taskTitle(task)}</span>
      {running && openAsks === 0 && (
        <>
          <Icon name="loading" spin />
          <span className="visually-hidden">, {l10n.t("the model is at work")},</span>
        </>
      )}
      {openAsks > 0 && (
        <>
          <span className="badge" aria-hidden="true">
            {openAsks}
          </span>
          <span className="visually-hidden">
            , {plural(openAsks, l10n.t("1 open question"), l10n.t("{0} open questions"))},
          </span>
        </>
      )}
      <span className="muted">{states.join(" · ")}</span>
    </span>
  );
}
