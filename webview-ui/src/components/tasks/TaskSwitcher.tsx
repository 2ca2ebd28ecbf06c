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
  readonly onExport: (taskId: string) => void;
}

/** The open task's title, which opens the list of all tasks. */
export function TaskSwitcher({ tasks, open, onOpen, onExport }: TaskSwitcherProps) {
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
          onExport={
            open &&
            (() => {
              close();
              onExport(open.id);
            })
          }
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
  /** Absent where no task is open. */
  readonly onExport: (() => void) | undefined;
}

/** So many tasks are found by their titles rather than by looking. */
const manyTasks = 8;

/** A list whose active option is told by ARIA: the focus is the list's, or that of the filter above it. */
function TaskList(props: TaskListProps) {
  const { tasks: all, openId, onChoose, onDismiss, onLeave, onExport } = props;
  const [filter, setFilter] = useState("");
  const tasks = all.filter((task) => fits(task, filter));
  const [activeId, setActiveId] = useState(openId ?? tasks[0]?.id);
  const list = useRef<HTMLDivElement>(null);
  const prefix = useId();
  const index = tasks.findIndex(({ id }) => id === activeId);
  const optionId = (taskId: string) => `${prefix}-${taskId}`;

  const field = useRef<HTMLInputElement>(null);
  useEffect(() => (field.current ?? list.current)?.focus(), []);
  useEffect(() => {
    if (activeId !== undefined) {
      document.getElementById(`${prefix}-${activeId}`)?.scrollIntoView({ block: "nearest" });
    }
  }, [activeId, prefix]);

  const moves: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(index + 1, tasks.length - 1),
    ArrowUp: Math.max(index - 1, 0),
    ...(filter === "" && { Home: 0, End: tasks.length - 1 }),
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moves[event.key];
    if (next !== undefined) setActiveId(tasks[next]?.id);
    else if (event.key === "Escape") onDismiss();
    else if (event.key === "Enter" || (event.key === " " && filter === "")) {
      if (index !== -1 && activeId !== undefined) onChoose(activeId);
    } else return;
    event.preventDefault();
  };

  const active = index === -1 || activeId === undefined ? undefined : optionId(activeId);
  return (
    <fieldset
      className="task-list"
      aria-label="Other tasks"
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) onLeave();
      }}
    >
      {all.length >= manyTasks && (
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-label="Find a task by its title"
          placeholder="Find a task…"
          aria-expanded="true"
          aria-controls={`${prefix}-list`}
          aria-activedescendant={active}
          value={filter}
          onChange={({ target }) => {
            setFilter(target.value);
            setActiveId(all.find((task) => fits(task, target.value))?.id);
          }}
          onKeyDown={onKeyDown}
        />
      )}
      <div
        ref={list}
        id={`${prefix}-list`}
        role="listbox"
        className="task-options"
        aria-label="Tasks"
        tabIndex={0}
        aria-activedescendant={active}
        onKeyDown={onKeyDown}
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
      {tasks.length === 0 && (
        <p role="status" className="muted">
          No task has that in its title.
        </p>
      )}
      {onExport !== undefined && (
        <button type="button" className="link task-export" onClick={onExport}>
          Export This Task as Markdown
        </button>
      )}
    </fieldset>
  );
}

function fits(task: Task, filter: string): boolean {
  return taskTitle(task).toLowerCase().includes(filter.trim().toLowerCase());
}
