import * as l10n from "@vscode/l10n";
import type { RefObject } from "react";
import { countWaiting } from "../../store/askOrder.ts";
import { isUnderWay } from "../../store/mcpTasks.ts";
import { countRunningCalls } from "../../store/openTask.ts";
import type { Actions } from "../../store/session.ts";
import type { State } from "../../store/state.ts";
import { tasksToList } from "../../store/tasks.ts";
import { isActive } from "../policy/policyWords.ts";
import { TaskHeader } from "../tasks/TaskHeader.tsx";
import { ListButton } from "../ui/ListButton.tsx";
import type { PageName } from "./useReveal.ts";

export interface HeadProps {
  readonly state: State;
  readonly actions: Actions;
  readonly inbox: RefObject<HTMLButtonElement | null>;
  readonly more: RefObject<HTMLButtonElement | null>;
  readonly onShow: (page: PageName) => void;
  readonly onFind: () => void;
  readonly onNewTask: () => void;
}

/** The head of the panel: the open task, and buttons for the pages with their counts. */
export function Head(props: HeadProps) {
  const { state, actions, inbox, more, onShow, onFind, onNewTask } = props;
  const { conversation } = state;
  const { here, inOtherTasks, unattributed, inOtherWorkspaces } = countWaiting(state);
  const elsewhere = inOtherTasks + unattributed + inOtherWorkspaces;
  const waiting = here + elsewhere;
  return (
    <TaskHeader
      tasks={tasksToList(state)}
      open={conversation?.task}
      onFind={onFind}
      onNewTask={onNewTask}
      deleted={state.deletedTasks[0]}
      runningCalls={() => countRunningCalls(conversation)}
      actions={actions}
      more={more}
      inbox={
        <ListButton
          ref={inbox}
          icon="inbox"
          // The dock already shows those of the open task.
          n={elsewhere}
          label={
            waiting === 0
              ? l10n.t("Open Questions")
              : l10n.t("Open Questions ({0} waiting)", waiting)
          }
          onOpen={() => onShow("openAsks")}
        />
      }
      pages={pagesOf(state).map(({ page, ...entry }) => ({
        ...entry,
        id: page,
        onChoose: () => onShow(page),
      }))}
    />
  );
}

function pagesOf({ mcpTasks, policy, servers }: State) {
  const underWay = mcpTasks.entries?.filter(isUnderWay).length ?? 0;
  const active = policy.entries?.filter((entry) => isActive(entry, Date.now())).length ?? 0;
  const failed = servers?.filter(({ state }) => state === "failed").length ?? 0;
  return [
    {
      page: "mcpTasks",
      icon: "server-process",
      label: underWay === 0 ? l10n.t("MCP Tasks") : l10n.t("MCP Tasks ({0} running)", underWay),
    },
    {
      page: "policy",
      icon: "shield",
      label:
        active === 0
          ? l10n.t("Automatic Answers")
          : l10n.t("Automatic Answers ({0} active)", active),
    },
    {
      page: "servers",
      icon: "server",
      label: failed === 0 ? l10n.t("Servers") : l10n.t("Servers ({0} failed)", failed),
    },
    { page: "setup", icon: "plug", label: l10n.t("Set Up Hosts") },
  ] as const;
}
