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
import type { ShownPageAt } from "./usePages.ts";

export interface ShownPageProps {
  readonly page: ShownPageAt;
  /** The server of the page that the person went back from. */
  readonly leftServer: string | undefined;
  readonly state: State;
  readonly actions: Actions;
  readonly onShow: (name: ShownPageAt["name"], at?: string) => void;
  readonly onOpen: (taskId: string, messageId: number) => void;
  /** The person opens a task, which takes the place of the page. */
  readonly onOpenTask: (taskId: string) => void;
  readonly onBack: () => void;
}

/** One of the pages. */
export function ShownPage(props: ShownPageProps) {
  switch (props.page.name) {
    case "openAsks":
      return <ShownAsks {...props} />;
    case "mcpTasks":
      return <ShownMcpTasks {...props} />;
    case "policy":
      return <ShownPolicy {...props} />;
    case "servers":
      return <ShownServers {...props} />;
    case "setup":
      return <SetupPage actions={props.actions} onBack={props.onBack} />;
    default:
      return unreachable(props.page.name);
  }
}

function ShownAsks({ page, state, actions, onOpen, onOpenTask, onBack }: ShownPageProps) {
  return (
    <ServersContext value={state.servers}>
      <OpenAsks
        inbox={state.inbox}
        at={page.at}
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
          else onOpenTask(taskId);
        }}
        onPlace={async (params, how) => {
          const placed = await actions.placeAndSettle(params, how);
          if (placed !== undefined) onOpen(placed.taskId, placed.messageId);
        }}
        onRetry={actions.listOpenAsks}
        onBack={onBack}
      />
    </ServersContext>
  );
}

function ShownMcpTasks({ state, actions, onOpen, onBack }: ShownPageProps) {
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
      onBack={onBack}
    />
  );
}

function ShownPolicy({ page, state, actions, onOpen, onBack }: ShownPageProps) {
  return (
    <PolicyPage
      known={state.policy}
      at={page.at}
      models={modelsFor(state, undefined)}
      tasks={state.tasks ?? []}
      serverNames={state.servers?.map(({ name }) => name) ?? []}
      actions={actions}
      onServer={(serverName) => actions.listModels(serverName)}
      onCreate={actions.createGrant}
      onPreview={actions.previewGrant}
      onOpen={onOpen}
      onRetry={actions.listPolicy}
      onBack={onBack}
    />
  );
}

function ShownServers(props: ShownPageProps) {
  const { page, leftServer, state, actions, onShow, onOpen, onBack } = props;
  const { servers, offers, problems, inspections, tasks } = state;
  return (
    <Servers
      {...{ servers, offers, problems, inspections, actions }}
      policy={state.policy.entries ?? []}
      serverName={page.at}
      left={leftServer}
      tasks={tasks ?? []}
      news={tasks}
      onShow={(serverName) => onShow("servers", serverName)}
      onShowPolicy={() => onShow("policy")}
      onOpen={onOpen}
      onBack={onBack}
    />
  );
}
