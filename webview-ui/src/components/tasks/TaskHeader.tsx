import type { Task } from "@assent/protocol";
import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import type { Actions } from "../../session.ts";
import { IconButton } from "../ui/IconButton.tsx";
import { taskTitle } from "./TaskLine.tsx";
import { TaskSwitcher } from "./TaskSwitcher.tsx";

export interface TaskHeaderProps {
  readonly tasks: readonly Task[];
  /** The open task; absent where none is, or where it was not read yet. */
  readonly open: Task | undefined;
  readonly actions: Actions;
  /** The buttons of the lists. */
  readonly lists: ReactNode;
}

/** The open task by name, the way to the others, and what can be done to it. */
export function TaskHeader({ tasks, open, actions, lists }: TaskHeaderProps) {
  const [doing, setDoing] = useState<{
    readonly what: "rename" | "close";
    readonly taskId: string;
  }>();
  // What was begun for one task must not be done to another.
  const now = doing?.taskId === open?.id ? doing?.what : undefined;
  const done = () => setDoing(undefined);
  const buttons = {
    rename: useRef<HTMLButtonElement>(null),
    close: useRef<HTMLButtonElement>(null),
  };
  useReturnedFocus(now, buttons);

  // A task of another window can only be read, and neither can what was begun here be done any more.
  const away = open?.elsewhere !== undefined;
  // A closed task can only be read.
  const living = open === undefined || open.closed ? undefined : open;
  return (
    <header className="task-header">
      <h1 className="visually-hidden">Assent</h1>
      {living !== undefined && !away && now === "rename" ? (
        <RenameForm
          task={living}
          onRename={(title) => {
            done();
            if (title !== living.title) actions.renameTask(living.id, title);
          }}
          onCancel={done}
        />
      ) : (
        <div className="task-bar">
          <TaskSwitcher
            tasks={tasks}
            open={open}
            onOpen={actions.openTask}
            onExport={actions.exportTask}
          />
          {living !== undefined && (
            <>
              <IconButton
                icon="edit"
                label={away ? "Rename Task: continue it here first" : "Rename Task"}
                ref={buttons.rename}
                aria-disabled={away}
                onClick={() => {
                  if (!away) setDoing({ what: "rename", taskId: living.id });
                }}
              />
              <IconButton
                icon="archive"
                label={away ? "Close Task: continue it here first" : "Close Task"}
                ref={buttons.close}
                aria-disabled={away}
                aria-expanded={now === "close"}
                onClick={() => {
                  if (away) return;
                  setDoing(now === "close" ? undefined : { what: "close", taskId: living.id });
                }}
              />
            </>
          )}
          {lists}
          <IconButton icon="add" label="New Task" className="new-task" onClick={actions.newTask} />
        </div>
      )}
      {living !== undefined && !away && now === "close" && (
        <CloseQuestion
          onClose={() => {
            done();
            actions.closeTask(living.id);
          }}
          onCancel={done}
        />
      )}
    </header>
  );
}

/** Gives the focus back to the button that began what is now over, where that is still there. */
function useReturnedFocus(
  now: "rename" | "close" | undefined,
  buttons: Readonly<Record<"rename" | "close", RefObject<HTMLButtonElement | null>>>,
): void {
  const before = useRef(now);
  useEffect(() => {
    if (before.current !== undefined && now === undefined) {
      buttons[before.current].current?.focus();
    }
    before.current = now;
  });
}

/** A ref for what the person just asked for, in place of what they pressed. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}

interface RenameFormProps {
  readonly task: Task;
  readonly onRename: (title: string) => void;
  readonly onCancel: () => void;
}

function RenameForm({ task, onRename, onCancel }: RenameFormProps) {
  const [title, setTitle] = useState(task.title);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (title.trim() !== "") onRename(title.trim());
  };
  return (
    <form className="task-bar" onSubmit={submit}>
      <input
        type="text"
        aria-label={`New title of ${taskTitle(task)}`}
        value={title}
        ref={takeFocus}
        onChange={(event) => setTitle(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
        }}
      />
      <button type="submit" className="primary" disabled={title.trim() === ""}>
        Rename
      </button>
      <IconButton icon="close" label="Keep the Title" onClick={onCancel} />
    </form>
  );
}

interface CloseQuestionProps {
  readonly onClose: () => void;
  readonly onCancel: () => void;
}

function CloseQuestion({ onClose, onCancel }: CloseQuestionProps) {
  return (
    <fieldset
      className="close-question"
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel();
      }}
    >
      <legend>Close this task?</legend>
      <p>Its running calls end and its open questions are dismissed. It can still be read.</p>
      <div className="actions">
        <button type="button" className="primary" ref={takeFocus} onClick={onClose}>
          Close Task
        </button>
        <button type="button" className="secondary" onClick={onCancel}>
          Keep Open
        </button>
      </div>
    </fieldset>
  );
}
