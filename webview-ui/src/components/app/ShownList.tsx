import { unreachable } from "../../lib/unreachable.ts";
import { ServersContext } from "../../store/contexts.ts";
import { modelsFor } from "../../store/servers.ts";
import type { Actions } from "../../store/session.ts";
import type { State } from "../../store/state.ts";
import { takesCalls } from "../../store/tasks.ts";
import { OpenAsks } from "../inbox/OpenAsks.tsx";
import { McpTasks } from "../mcpTasks/McpTasks.tsx";
import { PolicyPage } from "../policy/PolicyPage.tsx";
import { Servers } from "../servers/Servers.tsx";
import { SetupPage } from "../setup/SetupPage.tsx";
import type { List } from "./useReveal.ts";

export interface ShownListProps {
  readonly list: List;
  /** The question that takes the focus, or the server of the page to show; undefined for the first. */
  readonly at: string | undefined;
  readonly state: State;
  readonly actions: Actions;
  readonly onShowPolicy: () => void;
  readonly onOpen: (taskId: string, messageId: number) => void;
  readonly onClose: () => void;
}

/** One of the lists above the conversation. */
export function ShownList({ list, ...props }: ShownListProps) {
  switch (list) {
    case "openAsks":
      return <ShownAsks {...props} />;
    case "mcpTasks":
      return <ShownMcpTasks {...props} />;
    case "policy":
      return <ShownPolicy {...props} />;
    case "servers":
      return <ShownServers {...props} />;
    case "setup":
      return <SetupPage actions={props.actions} onClose={props.onClose} />;
    default:
      return unreachable(list);
  }
}

type ShownProps = Omit<ShownListProps, "list">;

function ShownAsks({ at, state, actions, onOpen, onClose }: ShownProps) {
  return (
    <ServersContext value={state.servers}>
      <OpenAsks
        inbox={state.inbox}
        at={at}
        tasks={state.tasks ?? []}
        onOpen={onOpen}
        onAnswer={async (params) => {
          await actions.answer(params);
        }}
        onDraft={actions.saveDraft}
        onClaim={async (params) => {
          const { taskId, messageId } = await actions.claimAsk(params);
          if (taskId === undefined) return;
          if (messageId !== undefined) onOpen(taskId, messageId);
          else actions.openTask(taskId);
        }}
        onRetry={actions.listOpenAsks}
        onClose={onClose}
      />
    </ServersContext>
  );
}

function ShownMcpTasks({ state, actions, onOpen, onClose }: ShownProps) {
  return (
    <McpTasks
      known={state.mcpTasks}
      ofServers={state.serverMcpTasks}
      here={takesCalls(state.conversation)}
      tasks={state.tasks ?? []}
      onOpen={onOpen}
      onFollow={async (task) => {
        const started = await actions.followMcpTask(task);
        if (started === undefined) return false;
        onOpen(started.taskId, started.messageId);
        return true;
      }}
      onMore={actions.moreMcpTasks}
      onRetry={actions.listMcpTasks}
      onClose={onClose}
    />
  );
}

function ShownPolicy({ at, state, actions, onOpen, onClose }: ShownProps) {
  return (
    <PolicyPage
      known={state.policy}
      at={at}
      models={modelsFor(state, undefined)}
      tasks={state.tasks ?? []}
      serverNames={state.servers?.map(({ name }) => name) ?? []}
      actions={actions}
      onServer={(serverName) => actions.listModels(serverName)}
      onCreate={actions.createGrant}
      onPreview={actions.previewGrant}
      onOpen={onOpen}
      onRetry={actions.listPolicy}
      onClose={onClose}
    />
  );
}

function ShownServers({ at, state, actions, onShowPolicy, onOpen, onClose }: ShownProps) {
  const { servers, offers, problems, inspections, tasks } = state;
  return (
    <Servers
      {...{ servers, offers, problems, inspections, actions }}
      policy={state.policy.entries ?? []}
      serverName={at}
      tasks={tasks ?? []}
      news={tasks}
      onShowPolicy={onShowPolicy}
      onOpen={onOpen}
      onClose={onClose}
    />
  );
}
