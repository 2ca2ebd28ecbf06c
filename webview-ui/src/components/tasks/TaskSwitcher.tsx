import type { Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type Ref, useImperativeHandle, useRef, useState } from "react";
import type { Actions } from "../../session.ts";
import { Icon } from "../ui/Icon.tsx";
import { taskTitle } from "./TaskLine.tsx";
import { TaskList } from "./TaskList.tsx";

export interface TaskSwitcherProps {
  /** The most recently created first. */
  readonly tasks: readonly Task[];
  /** The open task; absent where none is. */
  readonly open: Task | undefined;
  readonly onOpen: (taskId: string) => void;
  readonly onSearch: Actions["searchTasks"];
  /** A message that was found is wanted. */
  readonly onOpenMessage: (taskId: string, messageId: number) => void;
  /** Finds in the messages of the open task. */
  readonly onFind: () => void;
  readonly onExport: (taskId: string) => void;
  readonly onDelete: (task: Task) => void;
  /** The button with the title. */
  readonly ref?: Ref<HTMLButtonElement>;
}

/** The open task's title, which opens the list of all tasks. */
export function TaskSwitcher(props: TaskSwitcherProps) {
  const { tasks, open, onOpen, onSearch, onOpenMessage, onFind, onExport, onDelete, ref } = props;
  const [listing, setListing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useImperativeHandle(ref, () => button.current as HTMLButtonElement);
  const close = () => {
    setListing(false);
    button.current?.focus();
  };
  return (
    <div className="task-switcher">
      <button
        ref={button}
        type="button"
        className="task-title"
        aria-haspopup="listbox"
        aria-expanded={listing}
        onClick={() => setListing(!listing)}
        disabled={tasks.length === 0}
      >
        <span className="task-title-text">
          {open === undefined ? l10n.t("No task") : taskTitle(open)}
        </span>
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
          onFind={
            open &&
            (() => {
              close();
              onFind();
            })
          }
          onExport={
            open &&
            (() => {
              close();
              onExport(open.id);
            })
          }
          onDelete={
            open !== undefined && isHere(open)
              ? () => {
                  close();
                  onDelete(open);
                }
              : undefined
          }
        />
      )}
    </div>
  );
}

/** Only the window that a task is live in can delete it, unless that is gone. */
function isHere({ elsewhere }: Task): boolean {
  return elsewhere === undefined || elsewhere.gone === true;
}
