import type { Task } from "@assent/protocol";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Icon } from "../ui/Icon.tsx";
import { TaskLine, taskTitle } from "./TaskLine.tsx";

export interface TaskSwitcherProps {
  /** The most recently created first. */
  readonly tasks: readonly Task[];
  /** The open task; absent where none is. */
  readonly open: Task | undefined;
  readonly onOpen: (taskId: string) => void;
}

/** The open task's title, which opens the list of all tasks. */
export function TaskSwitcher({ tasks, open, onOpen }: TaskSwitcherProps) {
  const [listing, setListing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
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
        <span className="task-title-text">{open === undefined ? "No task" : taskTitle(open)}</span>
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
          onDismiss={close}
          onLeave={() => setListing(false)}
        />
      )}
    </div>
  );
}

interface TaskListProps {
  readonly tasks: readonly Task[];
  readonly openId: string | undefined;
  readonly onChoose: (taskId: string) => void;
  /** Put away by the keyboard: the focus goes back. */
  readonly onDismiss: () => void;
  /** The focus went elsewhere. */
  readonly onLeave: () => void;
}

/** A list that has the focus itself; the active option is told by ARIA. */
function TaskList({ tasks, openId, onChoose, onDismiss, onLeave }: TaskListProps) {
  const [activeId, setActiveId] = useState(openId ?? tasks[0]?.id);
  const list = useRef<HTMLDivElement>(null);
  const prefix = useId();
  const index = tasks.findIndex(({ id }) => id === activeId);
  const optionId = (taskId: string) => `${prefix}-${taskId}`;

  useEffect(() => list.current?.focus(), []);
  useEffect(() => {
    if (activeId !== undefined) {
      document.getElementById(`${prefix}-${activeId}`)?.scrollIntoView({ block: "nearest" });
    }
  }, [activeId, prefix]);

  const moves: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(index + 1, tasks.length - 1),
    ArrowUp: Math.max(index - 1, 0),
    Home: 0,
    End: tasks.length - 1,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moves[event.key];
    if (next !== undefined) setActiveId(tasks[next]?.id);
    else if (event.key === "Escape") onDismiss();
    else if ((event.key === "Enter" || event.key === " ") && activeId !== undefined) {
      onChoose(activeId);
    } else return;
    event.preventDefault();
  };

  return (
    <div
      ref={list}
      role="listbox"
      className="task-list"
      aria-label="Tasks"
      tabIndex={0}
      aria-activedescendant={activeId === undefined ? undefined : optionId(activeId)}
      onKeyDown={onKeyDown}
      onBlur={onLeave}
    >
      {tasks.map((task) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the listbox has the focus for its options.
        // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox has the keys for its options.
        <div
          key={task.id}
          id={optionId(task.id)}
          role="option"
          aria-selected={task.id === openId}
          className={task.id === activeId ? "task-option active" : "task-option"}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(task.id)}
        >
          <TaskLine task={task} />
        </div>
      ))}
    </div>
  );
}
