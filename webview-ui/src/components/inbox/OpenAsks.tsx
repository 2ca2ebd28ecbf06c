import type { AskResponseParams, ClaimAskParams, OpenAsk, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { Fragment, useContext, useEffect, useId, useRef } from "react";
import { taskTitle } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { type AsksOfTask, byTask } from "../../store/askOrder.ts";
import type { Inbox } from "../../store/asks.ts";
import { ServersContext } from "../../store/contexts.ts";
import type { Actions } from "../../store/session.ts";
import { useView } from "../../view/ViewContext.ts";
import { focusAsk } from "../ui/focus.ts";
import { Page } from "../ui/Page.tsx";
import { useNow } from "../ui/useNow.ts";
import { AskInPlace } from "./AskInPlace.tsx";
import { OpenAskLine } from "./OpenAskLine.tsx";
import { UnattributedAskItem } from "./UnattributedAskItem.tsx";
import { UnattributedCard, type UnattributedCardProps } from "./UnattributedCard.tsx";

export interface OpenAsksProps {
  readonly inbox: Inbox;
  /** The unattributed question that takes the focus. */
  readonly at: string | undefined;
  readonly tasks: readonly Task[];
  readonly onOpen: (taskId: string, messageId: number) => void;
  /** The person answered a simple question. Rejects if that was refused. */
  readonly onAnswer: (params: AskResponseParams) => Promise<void>;
  readonly onDraft: Actions["saveDraft"];
  /** The person assigned an unattributed question. Rejects if that was refused. */
  readonly onClaim: (params: ClaimAskParams) => Promise<void>;
  /** The person assigned one and settled it. Rejects if it could not be assigned. */
  readonly onPlace: UnattributedCardProps["onPlace"];
  readonly onRetry: () => void;
  readonly onBack: () => void;
}

/**
 * The open questions of all servers and conversations, oldest first, and those of other workspaces last.
 */
export function OpenAsks(props: OpenAsksProps) {
  const { inbox, at, tasks, onOpen, onAnswer, onDraft, onRetry, onBack } = props;
  const { onClaim, onPlace } = props;
  const { entries, unattributed, truncated, notAnswering, reading, failure } = inbox;
  const now = useNow(unattributed.length > 0 || (entries !== undefined && entries.length > 0));
  const rows = useRef<HTMLDivElement>(null);
  // The heading has the focus at first. On the first question, the Enter key is more useful.
  useEffect(() => {
    if (at === undefined || !focusAsk(at)) focusFirst(rows.current);
  }, [at]);
  // The element with the focus is about to be removed.
  const focusList = () => rows.current?.closest("section")?.querySelector("h2")?.focus();
  const answer = async (params: AskResponseParams) => {
    await onAnswer(params);
    focusList();
  };
  return (
    <Page heading={l10n.t("Open questions")} busy={reading} {...{ failure, onRetry, onBack }}>
      {entries?.length === 0 && unattributed.length === 0 && notAnswering.length === 0 && (
        <p className="muted">{l10n.t("No question waits for you.")}</p>
      )}
      <div ref={rows}>
        {workspacesOf(inbox).map((workspace) => (
          <Fragment key={workspace ?? ""}>
            <Unattributed
              unattributed={unattributed.filter((ask) => ask.workspace === workspace)}
              {...{ workspace, now }}
              onClaim={async (params) => {
                await onClaim(params);
                if (params.dismiss) focusList();
              }}
              onPlace={async (params, how) => {
                await onPlace(params, how);
                focusList();
              }}
            />
            {byTask((entries ?? []).filter((ask) => ask.workspace === workspace)).map((group) => (
              <TaskAsks
                key={group.taskId}
                {...{ group, tasks, now, onOpen, onDraft }}
                onAnswer={answer}
              />
            ))}
          </Fragment>
        ))}
      </div>
      {truncated && (
        <p className="muted">
          {plural(
            entries?.length ?? 0,
            l10n.t("Showing the oldest question. More are waiting."),
            l10n.t("Showing the oldest {0} questions. More are waiting."),
          )}
        </p>
      )}
      {notAnswering.map((workspace) => (
        <p key={workspace} className="muted">
          {l10n.t(
            "The workspace {0} does not respond now. Its questions appear when it does.",
            workspace,
          )}
        </p>
      ))}
    </Page>
  );
}

/** Unattributed questions come first, and an accidental Enter must not assign one. */
function focusFirst(rows: HTMLElement | null): void {
  rows?.querySelector<HTMLElement>("button, .unattributed-ask, .ask-card")?.focus();
}

/** The workspaces with questions, the panel's own first. */
function workspacesOf({ entries = [], unattributed }: Inbox): readonly (string | undefined)[] {
  return [...new Set([undefined, ...[...unattributed, ...entries].map((ask) => ask.workspace)])];
}

interface AsksHeadingProps {
  readonly id: string;
  /** A question of another workspace. */
  readonly workspace: string | undefined;
  readonly children: string;
}

function AsksHeading({ id, workspace, children }: AsksHeadingProps) {
  if (workspace === undefined) {
    return (
      <h3 id={id} className="open-asks-of">
        {children}
      </h3>
    );
  }
  return (
    <h3 id={id} className="open-asks-of open-asks-of-other">
      <span className="open-asks-title">{children}</span>{" "}
      <span className="muted open-asks-workspace">{visible(workspace)}</span>
    </h3>
  );
}

interface UnattributedProps {
  readonly workspace: string | undefined;
  readonly unattributed: Inbox["unattributed"];
  readonly now: number;
  readonly onClaim: (params: ClaimAskParams) => Promise<void>;
  readonly onPlace: UnattributedCardProps["onPlace"];
}

/** The unattributed questions. */
function Unattributed({ workspace, unattributed, now, onClaim, onPlace }: UnattributedProps) {
  const headingId = useId();
  const servers = useContext(ServersContext);
  if (unattributed.length === 0) return null;
  return (
    // The servers of another workspace are unknown here.
    <ServersContext value={workspace === undefined ? servers : undefined}>
      <AsksHeading id={headingId} workspace={workspace}>
        {l10n.t("Of no task yet")}
      </AsksHeading>
      <ul aria-labelledby={headingId}>
        {unattributed.map((ask) =>
          ask.question?.type === "mcp_elicitation" ||
          ask.question?.type === "mcp_url_elicitation" ? (
            <UnattributedCard
              key={ask.id}
              {...{ ask, now, onClaim, onPlace }}
              question={ask.question}
            />
          ) : (
            <UnattributedAskItem key={ask.id} {...{ ask, now, onClaim }} />
          ),
        )}
      </ul>
    </ServersContext>
  );
}

interface TaskAsksProps extends Pick<OpenAsksProps, "tasks" | "onOpen" | "onAnswer" | "onDraft"> {
  readonly group: AsksOfTask;
  readonly now: number;
}

function TaskAsks({ group, tasks, now, onOpen, onAnswer, onDraft }: TaskAsksProps) {
  const { workspace, taskId, title, asks } = group;
  const headingId = useId();
  const view = useView();
  /** A tool call with edited arguments is answered at its card, where the arguments are visible. */
  const isInPlace = ({ simple = false, wants, askId }: OpenAsk) =>
    simple &&
    (!(wants === "use_mcp_tool" || wants === "use_mcp_tool_for_app") ||
      Object.keys(view.draft(askId) ?? {}).length === 0);
  // The conversation may have been renamed since the list was read.
  const task = tasks.find(({ id }) => id === taskId) ?? { title };
  return (
    <>
      <AsksHeading id={headingId} workspace={workspace}>
        {taskTitle(task)}
      </AsksHeading>
      <ul aria-labelledby={headingId}>
        {asks.map((ask) => (
          <li key={ask.askId}>
            <button
              type="button"
              className="task-option"
              onClick={() => onOpen(ask.taskId, ask.messageId)}
            >
              <OpenAskLine ask={ask} now={now} inPlace={isInPlace(ask)} />
            </button>
            {isInPlace(ask) && (
              <AskInPlace
                ask={ask}
                askId={ask.askId}
                serverName={ask.origin.serverName}
                onAnswer={(answer) => onAnswer({ taskId, askId: ask.askId, ...answer })}
                onDraft={(draft) => onDraft(taskId, ask.askId, draft)}
              />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
