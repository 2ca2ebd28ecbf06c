import type { Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useRef, useState } from "react";
import { taskTitle } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { Icon } from "../ui/Icon.tsx";
import { TaskList } from "./TaskList.tsx";

export interface TaskSwitcherProps {
  /** Most recently created first. */
  readonly tasks: readonly Task[];
  /** The open task; undefined if there is none. */
  readonly open: Task | undefined;
  readonly onOpen: (taskId: string) => void;
  readonly onSearch: Actions["searchTasks"];
  /** The person chose a found message. */
  readonly onOpenMessage: (taskId: string, messageId: number) => void;
}

/** The open task's title, which opens the list of all tasks. */
export function TaskSwitcher(props: TaskSwitcherProps) {
  const { tasks, open, onOpen, onSearch, onOpenMessage } = props;
  const [listing, setListing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setListing(false);
    button.current?.focus();
  };
  const title = open === undefined ? l10n.t("No task") : taskTitle(open);
  return (
    <div className="task-switcher">
      <button
        ref={button}
        type="button"
        className="task-title"
        title={title}
        aria-haspopup="listbox"
        aria-expanded={listing}
        onClick={() => setListing(!listing)}
        disabled={tasks.length === 0}
      >
        <span className="task-title-text">{title}</span>
        {open?.workspace !== undefined && (
          <span className="muted task-title-workspace">{visible(open.workspace)}</span>
        )}
        <Icon name="chevron-down" />
      </button>
      {listing && (
        <TaskList
          tasks={tasks}
          openId={open?.id}
          onChoose={(taskId) => {
            close();
            onOpen(taskId);
          }}
          onSearch={onSearch}
          onChooseMessage={(taskId, messageId) => {
            close();
            onOpenMessage(taskId, messageId);
          }}
          onDismiss={close}
          onLeave={() => setListing(false)}
        />
      )}
    </div>
  );
}
