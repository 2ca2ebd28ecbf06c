import type { Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { taskTitle } from "../../lib/format.ts";
import { listed, plural } from "../../lib/l10n.ts";
import type { Actions } from "../../store/session.ts";
import { IconButton } from "../ui/IconButton.tsx";
import type { MenuEntry } from "../ui/Menu.tsx";
import { MenuButton } from "../ui/MenuButton.tsx";
import { TaskSwitcher } from "./TaskSwitcher.tsx";

export interface TaskHeaderProps {
  readonly tasks: readonly Task[];
  /** The open task; undefined if there is none, or it was not read yet. */
  readonly open: Task | undefined;
  /** Opens the search in the open task. */
  readonly onFind: () => void;
  readonly onNewTask: () => void;
  /** The task that was deleted last. The menu can restore it. */
  readonly deleted: Task | undefined;
  /** The number of running calls in the open task. */
  readonly runningCalls: () => number;
  readonly actions: Actions;
  /** The button of the page of open questions. */
  readonly inbox: ReactNode;
  /** The ways to the other pages. */
  readonly pages: readonly MenuEntry[];
  /** The button of the menu. */
  readonly more: RefObject<HTMLButtonElement | null>;
}

/** The open task's title, the switch to other tasks, and a menu of actions. */
export function TaskHeader(props: TaskHeaderProps) {
  const { tasks, open, onFind, onNewTask, runningCalls } = props;
  const { deleted, actions, inbox, pages, more } = props;
  const [doing, setDoing] = useState<{ readonly what: Doing; readonly taskId: string }>();
  // An action that was started for one task must not apply to another.
  const now = doing?.taskId === open?.id ? doing?.what : undefined;
  const done = () => setDoing(undefined);
  useReturnedFocus(now, more);

  // A closed task is read-only.
  const living = open === undefined || open.closed ? undefined : open;
  const begin = (what: Doing) => {
    if (open !== undefined) setDoing({ what, taskId: open.id });
  };
  const entries: MenuEntry[] = [];
  if (living !== undefined) {
    const onChoose = () => begin("rename");
    entries.push({ icon: "edit", label: l10n.t("Rename Task"), onChoose });
  }
  if (open !== undefined) {
    entries.push(
      { icon: "search", label: l10n.t("Find in Task"), onChoose: onFind },
      {
        icon: "export",
        label: l10n.t("Export Task as Markdown"),
        onChoose: () => actions.exportTask(open.id),
      },
    );
  }
  pages.forEach((page, n) => {
    entries.push({ ...page, apart: n === 0 && entries.length > 0 });
  });
  if (living !== undefined) {
    const onChoose = () => begin("close");
    entries.push({
      icon: "archive",
      label: l10n.t("Close Task"),
      apart: true,
      onChoose,
    });
  }
  // A task is restored in its own workspace.
  if (open !== undefined && open.workspace === undefined) {
    entries.push({
      icon: "trash",
      label: l10n.t("Delete Task"),
      apart: true,
      danger: true,
      onChoose: () => {
        if (whatEnds(open, runningCalls()).length === 0) actions.deleteTask(open.id, false);
        else begin("delete");
      },
    });
  }
  if (deleted !== undefined) {
    entries.push({
      icon: "discard",
      label: l10n.t("Undo Delete Task"),
      onChoose: () => actions.restoreTask(deleted.id),
    });
  }
  return (
    <header className="task-header">
      <h1 className="visually-hidden">Assent</h1>
      {living !== undefined && now === "rename" ? (
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
            onSearch={actions.searchTasks}
            onOpenMessage={(taskId, messageId) =>
              actions.reveal({ kind: "message", taskId, messageId })
            }
          />
          {inbox}
          <IconButton
            icon="add"
            label={l10n.t("New Task")}
            className="new-task"
            onClick={onNewTask}
          />
          <MenuButton
            ref={more}
            label={l10n.t("More Actions")}
            icon="ellipsis"
            className="icon-button"
            entries={entries}
          />
        </div>
      )}
      {living !== undefined && now === "close" && (
        <CloseQuestion
          onClose={() => {
            done();
            actions.closeTask(living.id);
          }}
          onCancel={done}
        />
      )}
      {open !== undefined && now === "delete" && (
        <DeleteQuestion
          ends={whatEnds(open, runningCalls())}
          onDelete={() => {
            done();
            actions.deleteTask(open.id, true);
          }}
          onCancel={done}
        />
      )}
    </header>
  );
}

type Doing = "rename" | "close" | "delete";

/** What ends when a task is closed, in words. */
function whatEnds({ openAsks, running = false }: Task, runningCalls: number): readonly string[] {
  return [
    ...(openAsks > 0
      ? [plural(openAsks, l10n.t("1 open question"), l10n.t("{0} open questions"))]
      : []),
    ...(runningCalls > 0
      ? [plural(runningCalls, l10n.t("1 running call"), l10n.t("{0} running calls"))]
      : []),
    ...(running ? [l10n.t("what the model is doing")] : []),
  ];
}

/** Returns the focus to the menu's button when an action of the menu has ended. */
function useReturnedFocus(now: Doing | undefined, more: RefObject<HTMLButtonElement | null>): void {
  const before = useRef(now);
  useEffect(() => {
    if (before.current !== undefined && now === undefined) more.current?.focus();
    before.current = now;
  });
}

/** A ref that moves the focus from a pressed button to the element that it opened. */
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
        aria-label={l10n.t("New title of {0}", taskTitle(task))}
        value={title}
        ref={takeFocus}
        onChange={(event) => setTitle(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
        }}
      />
      <button type="submit" className="primary" disabled={title.trim() === ""}>
        {l10n.t("Rename")}
      </button>
      <IconButton icon="close" label={l10n.t("Keep the Title")} onClick={onCancel} />
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
      <legend>{l10n.t("Close this task?")}</legend>
      <p>
        {l10n.t(
          "Its running calls end, and its open questions are dismissed. You can still read it.",
        )}
      </p>
      <div className="actions">
        <button type="button" className="primary" ref={takeFocus} onClick={onClose}>
          {l10n.t("Close Task")}
        </button>
        <button type="button" className="secondary" onClick={onCancel}>
          {l10n.t("Keep Open")}
        </button>
      </div>
    </fieldset>
  );
}

interface DeleteQuestionProps {
  /** The running work of the task. */
  readonly ends: readonly string[];
  readonly onDelete: () => void;
  readonly onCancel: () => void;
}

function DeleteQuestion({ ends, onDelete, onCancel }: DeleteQuestionProps) {
  return (
    <fieldset
      className="close-question"
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel();
      }}
    >
      <legend>{l10n.t("Close and delete this task?")}</legend>
      <p>
        {ends.length === 0
          ? l10n.t("Nothing is running in it.")
          : l10n.t("This also ends: {0}.", listed(ends))}{" "}
        {l10n.t("Its journal records remain.")}
      </p>
      <div className="actions">
        <button type="button" className="primary" ref={takeFocus} onClick={onDelete}>
          {l10n.t("Close and Delete")}
        </button>
        <button type="button" className="secondary" onClick={onCancel}>
          {l10n.t("Keep Task")}
        </button>
      </div>
    </fieldset>
  );
}
