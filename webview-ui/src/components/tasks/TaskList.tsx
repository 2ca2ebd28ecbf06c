import type { SearchHit, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { briefly, sharedTitles, taskTitle } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { TaskLine } from "./TaskLine.tsx";
import { useSearch } from "./useSearch.ts";

export interface TaskListProps {
  /** Most recently created first. */
  readonly tasks: readonly Task[];
  readonly openId: string | undefined;
  readonly onChoose: (taskId: string) => void;
  readonly onSearch: Actions["searchTasks"];
  readonly onChooseMessage: (taskId: string, messageId: number) => void;
  /** Closed with the keyboard: the focus returns. */
  readonly onDismiss: () => void;
  /** The focus moved elsewhere. */
  readonly onLeave: () => void;
}

/** An option: a task, or a message that matches the search. */
type Entry =
  | { readonly key: string; readonly task: Task }
  | {
      readonly key: string;
      readonly hit: SearchHit;
      /** The previous entry belongs to the same task. */
      readonly repeated: boolean;
    };

/** A list with an active option that ARIA sets. The field above it, or the list, has the focus. */
export function TaskList(props: TaskListProps) {
  const { tasks: all, openId, onChoose, onSearch, onChooseMessage, onDismiss, onLeave } = props;
  const [filter, setFilter] = useState("");
  const search = useSearch(filter, onSearch);
  const entries: readonly Entry[] = [
    ...all.filter((task) => fits(task, filter)).map((task) => ({ key: task.id, task })),
    ...search.hits.map((hit, n) => ({
      key: `${hit.taskId}:${hit.messageId}`,
      hit,
      repeated: search.hits[n - 1]?.taskId === hit.taskId,
    })),
  ];
  const shared = sharedTitles(all);
  const [activeKey, setActiveKey] = useState(openId ?? all[0]?.id);
  const prefix = useId();
  // The active option may be gone. Then the first one is active.
  const known = entries.findIndex(({ key }) => key === activeKey);
  const index = known === -1 && entries.length > 0 ? 0 : known;
  const active = entries[index];
  const optionId = (key: string) => `${prefix}-${key}`;

  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const activeId = active === undefined ? undefined : optionId(active.key);
  useEffect(() => {
    if (activeId !== undefined) {
      document.getElementById(activeId)?.scrollIntoView({ block: "nearest" });
    }
  }, [activeId]);

  const choose = (entry: Entry) => {
    if ("task" in entry) onChoose(entry.task.id);
    else onChooseMessage(entry.hit.taskId, entry.hit.messageId);
  };
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(index + 1, entries.length - 1),
    ArrowUp: Math.max(index - 1, 0),
    ...(filter === "" && { Home: 0, End: entries.length - 1 }),
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const next = moves[event.key];
    if (next !== undefined) setActiveKey(entries[next]?.key);
    else if (event.key === "Escape") onDismiss();
    else if (event.key === "Enter" || (event.key === " " && filter === "")) {
      if (active !== undefined) choose(active);
    } else return;
    event.preventDefault();
  };
  const option = (entry: Entry) => ({
    id: optionId(entry.key),
    className: entry === active ? "task-option active" : "task-option",
    onMouseDown: (event: { preventDefault(): void }) => event.preventDefault(),
    onClick: () => choose(entry),
  });

  return (
    <fieldset
      className="task-list"
      aria-label={l10n.t("Other tasks")}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) onLeave();
      }}
    >
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label={l10n.t("Find tasks by title or message")}
        placeholder={l10n.t("Find in tasks…")}
        aria-expanded="true"
        aria-controls={`${prefix}-list`}
        aria-activedescendant={activeId}
        value={filter}
        onChange={({ target }) => {
          setFilter(target.value);
          setActiveKey(all.find((task) => fits(task, target.value))?.id);
        }}
        onKeyDown={onKeyDown}
      />
      <div
        id={`${prefix}-list`}
        role="listbox"
        className="task-options"
        aria-label={l10n.t("Tasks")}
        tabIndex={0}
        aria-activedescendant={activeId}
        onKeyDown={onKeyDown}
      >
        {entries.map((entry) =>
          "task" in entry ? (
            // biome-ignore lint/a11y/useFocusableInteractive: the listbox has the focus for its options.
            <div
              key={entry.key}
              role="option"
              aria-selected={entry.task.id === openId}
              {...option(entry)}
            >
              <TaskLine task={entry.task} isTwin={shared.has(entry.task.title)} />
            </div>
          ) : (
            // biome-ignore lint/a11y/useFocusableInteractive: as above.
            <div key={entry.key} role="option" aria-selected={false} {...option(entry)}>
              <Found hit={entry.hit} repeated={entry.repeated} />
            </div>
          ),
        )}
      </div>
      <p role="status" className="muted task-search">
        {statusOf(entries.length, search)}
      </p>
    </fieldset>
  );
}

interface FoundProps {
  readonly hit: SearchHit;
  /** Its task's title is shown above. */
  readonly repeated: boolean;
}

/** A message that matches the search. */
function Found({ hit, repeated }: FoundProps) {
  return (
    <span className="task-found">
      <span className={repeated ? "visually-hidden" : "task-line"}>
        <span className="task-line-title">{taskTitle(hit)}</span>
        <span className="muted">{briefly(hit.time)}</span>
      </span>
      <span className="task-found-text muted">
        {visible(hit.before)}
        <mark>{visible(hit.match)}</mark>
        {visible(hit.after)}
      </span>
    </span>
  );
}

function statusOf(found: number, search: ReturnType<typeof useSearch>): string {
  if (search.failure !== undefined) {
    return l10n.t("Messages could not be searched: {0}", search.failure);
  }
  if (search.searching) return l10n.t("Messages are being searched…");
  if (search.truncated) return l10n.t("There may be more, in older messages.");
  return found === 0 ? l10n.t("No results found.") : "";
}

function fits(task: Task, filter: string): boolean {
  return taskTitle(task).toLowerCase().includes(filter.trim().toLowerCase());
}
