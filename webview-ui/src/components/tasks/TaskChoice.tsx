import type { Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { sharedTitles } from "../../lib/format.ts";
import { TaskLine } from "./TaskLine.tsx";

export interface TaskChoiceProps {
  /** Most recently created first. */
  readonly tasks: readonly Task[];
  readonly onOpen: (taskId: string) => void;
}

/** All tasks, shown while none is open. */
export function TaskChoice({ tasks, onOpen }: TaskChoiceProps) {
  const shared = sharedTitles(tasks);
  return (
    <main className="welcome">
      <h2>{l10n.t("Tasks")}</h2>
      <ul className="task-choice">
        {tasks.map((task) => (
          <li key={task.id}>
            <button type="button" className="task-option" onClick={() => onOpen(task.id)}>
              <TaskLine task={task} isTwin={shared.has(task.title)} />
            </button>
          </li>
        ))}
      </ul>
    </main>
  );
}
