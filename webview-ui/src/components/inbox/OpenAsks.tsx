import type { ClaimAskParams, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useId, useRef } from "react";
import { plural } from "../../l10n.ts";
import { type AsksOfTask, byTask, type Inbox } from "../../state/inbox.ts";
import { focusAsk } from "../chat/focus.ts";
import { taskTitle } from "../tasks/TaskLine.tsx";
import { ListPanel } from "../ui/ListPanel.tsx";
import { useNow } from "../ui/useNow.ts";
import { OpenAskLine } from "./OpenAskLine.tsx";
import { UnclaimedAskItem } from "./UnclaimedAskItem.tsx";

export interface OpenAsksProps {
  readonly inbox: Inbox;
  /** The question of no task that is to have the focus. */
  readonly at: string | undefined;
  readonly tasks: readonly Task[];
  readonly onOpen: (taskId: string, messageId: number) => void;
  /** The person says whose a question of no task is; rejects where that was refused. */
  readonly onClaim: (params: ClaimAskParams) => Promise<void>;
  readonly onRetry: () => void;
  readonly onClose: () => void;
}

/** The questions of all servers and conversations that wait for the person, the oldest first. */
export function OpenAsks(props: OpenAsksProps) {
  const { inbox, at, tasks, onOpen, onClaim, onRetry, onClose } = props;
  const { entries, unclaimed, truncated, reading, failure } = inbox;
  const now = useNow(unclaimed.length > 0 || (entries !== undefined && entries.length > 0));
  const rows = useRef<HTMLDivElement>(null);
  // The panel has the focus at first; the first question is of more use to the Enter key.
  useEffect(() => {
    if (at === undefined || !focusAsk(at)) focusFirst(rows.current);
  }, [at]);
  return (
    <ListPanel
      heading={l10n.t("Open questions")}
      closeLabel={l10n.t("Close the List of Open Questions")}
      busy={reading}
      {...{ failure, onRetry, onClose }}
    >
      {entries?.length === 0 && unclaimed.length === 0 && (
        <p className="muted">{l10n.t("No question waits for you.")}</p>
      )}
      <div ref={rows}>
        {unclaimed.length > 0 && (
          <Unclaimed
            {...{ unclaimed, now }}
            onClaim={async (params) => {
              await onClaim(params);
              // What had the focus goes away.
              if (params.dismiss) rows.current?.closest<HTMLElement>("section")?.focus();
            }}
          />
        )}
        {byTask(entries ?? []).map((group) => (
          <TaskAsks key={group.taskId} {...{ group, tasks, now, onOpen }} />
        ))}
      </div>
      {truncated && (
        <p className="muted">
          {plural(
            entries?.length ?? 0,
            l10n.t("This is the oldest question. More wait behind it."),
            l10n.t("These are the oldest {0} questions. More wait behind them."),
          )}
        </p>
      )}
    </ListPanel>
  );
}

/** Questions of no task come first, and none of their answers is to be given by pressing Enter too early. */
function focusFirst(rows: HTMLElement | null): void {
  rows?.querySelector<HTMLElement>("button, .unclaimed-ask")?.focus();
}

interface UnclaimedProps {
  readonly unclaimed: Inbox["unclaimed"];
  readonly now: number;
  readonly onClaim: (params: ClaimAskParams) => Promise<void>;
}

/** What nothing proves to be of one conversation. */
function Unclaimed({ unclaimed, now, onClaim }: UnclaimedProps) {
  const headingId = useId();
  return (
    <>
      <h3 id={headingId} className="open-asks-of">
        {l10n.t("Which task do these belong to?")}
      </h3>
      <ul aria-labelledby={headingId}>
        {unclaimed.map((ask) => (
          <UnclaimedAskItem key={ask.id} {...{ ask, now, onClaim }} />
        ))}
      </ul>
    </>
  );
}

interface TaskAsksProps {
  readonly group: AsksOfTask;
  readonly tasks: readonly Task[];
  readonly now: number;
  readonly onOpen: (taskId: string, messageId: number) => void;
}

function TaskAsks({ group: { taskId, title, asks }, tasks, now, onOpen }: TaskAsksProps) {
  const headingId = useId();
  // A conversation may have been renamed since the list was read.
  const task = tasks.find(({ id }) => id === taskId) ?? { title };
  return (
    <>
      <h3 id={headingId} className="open-asks-of">
        {taskTitle(task)}
      </h3>
      <ul aria-labelledby={headingId}>
        {asks.map((ask) => (
          <li key={ask.askId}>
            <button
              type="button"
              className="task-option"
              onClick={() => onOpen(ask.taskId, ask.messageId)}
            >
              <OpenAskLine ask={ask} now={now} />
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
