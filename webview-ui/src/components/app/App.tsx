import type { Grant } from "@assent/protocol";
import type { Reveal } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import { type RefObject, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import {
  type AskPlace,
  type AskStop,
  stepFrom,
  stopsOf,
  unclaimedStop,
} from "../../store/askOrder.ts";
import {
  DeclinedContext,
  GrantsContext,
  ServersContext,
  SettingsContext,
} from "../../store/contexts.ts";
import { isUnderWay } from "../../store/mcpTasks.ts";
import { openAsksOf } from "../../store/openAsks.ts";
import type { Conversation } from "../../store/openTask.ts";
import { modelsFor } from "../../store/servers.ts";
import type { Actions, Session } from "../../store/session.ts";
import type { State } from "../../store/state.ts";
import { otherTasksWaiting, takesCalls } from "../../store/tasks.ts";
import { unreachable } from "../../unreachable.ts";
import { ViewContext } from "../../view/ViewContext.ts";
import type { RunnerState, ViewStateStore } from "../../viewState.ts";
import { Composer, type ComposerHandle } from "../composer/Composer.tsx";
import { TurnLine } from "../composer/TurnLine.tsx";
import { type ChatHandle, ChatView } from "../conversation/ChatView.tsx";
import { AskDock, type DockHandle } from "../dock/AskDock.tsx";
import { DeclinedServers } from "../grants/DeclinedServers.tsx";
import { Grants } from "../grants/Grants.tsx";
import { isAlive } from "../grants/grantWords.ts";
import { ToolRules } from "../grants/ToolRules.tsx";
import { OpenAsks } from "../inbox/OpenAsks.tsx";
import { useAskKeys } from "../inbox/useAskKeys.ts";
import { McpTasks } from "../mcpTasks/McpTasks.tsx";
import { Servers } from "../servers/Servers.tsx";
import { DeletedTask } from "../tasks/DeletedTask.tsx";
import { FirstSteps } from "../tasks/FirstSteps.tsx";
import { OtherWorkspace } from "../tasks/OtherWorkspace.tsx";
import { TaskChoice } from "../tasks/TaskChoice.tsx";
import { TaskHeader } from "../tasks/TaskHeader.tsx";
import { Welcome } from "../tasks/Welcome.tsx";
import { NoServers } from "../tools/NoServers.tsx";
import { Runner } from "../tools/Runner.tsx";
import { Banner } from "../ui/Banner.tsx";
import { Boundary } from "../ui/Boundary.tsx";
import { brief } from "../ui/brief.ts";
import { focusedAskId } from "../ui/focus.ts";
import { ListButton } from "../ui/ListButton.tsx";
import { Announcer } from "./Announcer.tsx";
import { Banners } from "./Banners.tsx";

export interface AppProps {
  readonly session: Session;
  readonly view: ViewStateStore;
}

const none: readonly Grant[] = [];

/** The lists above the conversation, of which one is shown at a time. */
type List = "openAsks" | "mcpTasks" | "grants" | "servers";

interface Shown {
  readonly list: List;
  /** The question in it that takes the focus, or the server with the wanted page; absent for the first. */
  readonly at: string | undefined;
  readonly times: number;
}

/** The action that reads each of them. */
const listReader = {
  openAsks: "listOpenAsks",
  mcpTasks: "listMcpTasks",
  grants: "listGrants",
  servers: "listServers",
} as const satisfies Record<List, keyof Actions>;

/** The whole panel, or why it cannot be drawn. */
export function App(props: AppProps) {
  const { subscribe, getState, actions } = props.session;
  const taskId = useSyncExternalStore(subscribe, () => getState().conversation?.taskId);
  return (
    <Boundary
      subject={taskId}
      instead={(problem, retry) => (
        <Banner
          level="error"
          actions={
            <>
              <button type="button" className="secondary" onClick={retry}>
                {l10n.t("Try Again")}
              </button>
              <button type="button" className="secondary" onClick={() => actions.newTask()}>
                {l10n.t("New Task")}
              </button>
            </>
          }
        >
          {l10n.t("The panel cannot be drawn: {0}", brief(problem))}
        </Banner>
      )}
    >
      <Panel {...props} />
    </Boundary>
  );
}

function Panel({ session, view }: AppProps) {
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const { actions } = session;
  const { conversation, servers, offers } = state;
  const models = modelsFor(state, undefined);
  const grants = state.grants.entries ?? none;
  const [runner, setRunner] = useState(view.get().runner);
  const firstControl = useRef<HTMLSelectElement>(null);
  const chat = useRef<ChatHandle>(null);
  const dock = useRef<DockHandle>(null);
  const composer = useRef<ComposerHandle>(null);
  const asks = useMemo(() => openAsksOf(conversation), [conversation]);
  const inOthers = otherTasksWaiting(state).reduce((sum, { openAsks }) => sum + openAsks, 0);
  const unclaimed = state.inbox.unclaimed.length;
  // The count has those on older pages too.
  const here = Math.max(asks.length, conversation?.task?.openAsks ?? 0);

  const changeRunner = (next: RunnerState) => {
    setRunner(next);
    view.update((kept) => ({ ...kept, runner: next }));
  };

  const [runnerAsked, setRunnerAsked] = useState(0);
  useEffect(() => {
    if (runnerAsked > 0) firstControl.current?.focus();
  }, [runnerAsked]);
  const askForRunner = (serverName: string | undefined) => {
    changeRunner({ ...(serverName === undefined ? runner : { serverName }), open: true });
    setRunnerAsked(runnerAsked + 1);
  };

  // The composer of a task that is being made takes the focus when it is there. In a browser it has the focus at first;
  // in VS Code that may be in an editor.
  const composerAsked = useRef(false);
  const openId = conversation?.taskId;
  const isRead = servers !== undefined && state.tasks !== undefined;
  useEffect(() => {
    if (!isRead) return;
    const { activeElement, body } = document;
    const atFirst = body.dataset["host"] === "browser" && activeElement === body;
    if (!atFirst && (openId === undefined || !composerAsked.current)) return;
    composerAsked.current = false;
    composer.current?.park();
  }, [openId, isRead]);

  // What the buttons of the lists count.
  const others = othersWaiting(state);
  const open = conversation?.task;
  const foreign = open?.workspace !== undefined;
  const waiting = here + inOthers + unclaimed + others;
  const underWay = state.mcpTasks.entries?.filter(isUnderWay).length ?? 0;
  const activeGrants = grants.filter((grant) => isAlive(grant, Date.now())).length;
  const failedServers = servers?.filter(({ state: how }) => how === "failed").length ?? 0;

  useModels(state, actions);
  const [shown, setShown] = useState<Shown>();
  const inbox = useRef<HTMLButtonElement>(null);
  const more = useRef<HTMLButtonElement>(null);
  const show = (list: List, at?: string) => {
    // Asked for once more, it takes the focus once more.
    setShown({ list, at, times: (shown?.times ?? 0) + 1 });
    actions[listReader[list]]();
    if (list === "grants") actions.listToolRules();
  };
  const hide = () => {
    if (shown !== undefined) (shown.list === "openAsks" ? inbox : more).current?.focus();
    setShown(undefined);
  };
  const openMessage = (taskId: string, messageId: number) => {
    setShown(undefined);
    actions.reveal({ kind: "message", taskId, messageId });
  };
  const askForComposer = () => {
    composerAsked.current = true;
  };
  const insert = (text: string) => {
    composer.current?.insert(text);
    return composer.current !== null;
  };
  useReveal(state, actions, { chat, askForRunner, askForComposer, insert, show, openMessage });
  useAskKeys(state.sidecar.state === "running", actions);

  return (
    <ViewContext value={view}>
      <GrantsContext value={grants}>
        <div className="app">
          <TaskHeader
            tasks={state.tasks ?? []}
            open={conversation?.task}
            onFind={() => chat.current?.find()}
            onNewTask={() => {
              askForComposer();
              actions.newTask();
            }}
            runningCalls={() => runningCalls(conversation)}
            actions={actions}
            more={more}
            inbox={
              <ListButton
                ref={inbox}
                icon="inbox"
                // Those of the open task are in the dock already.
                n={inOthers + unclaimed + others}
                label={
                  waiting === 0
                    ? l10n.t("Open Questions")
                    : l10n.t("Open Questions ({0} waiting)", waiting)
                }
                shown={shown?.list === "openAsks"}
                onToggle={() => (shown?.list === "openAsks" ? hide() : show("openAsks"))}
              />
            }
            lists={[
              {
                icon: "server-process",
                label:
                  underWay === 0
                    ? l10n.t("MCP Tasks")
                    : l10n.t("MCP Tasks ({0} under way)", underWay),
                onChoose: () => show("mcpTasks"),
              },
              {
                icon: "shield",
                label:
                  activeGrants === 0
                    ? l10n.t("Grants")
                    : l10n.t("Grants ({0} active)", activeGrants),
                onChoose: () => show("grants"),
              },
              {
                icon: "server",
                label:
                  failedServers === 0
                    ? l10n.t("Servers")
                    : l10n.t("Servers ({0} failed)", failedServers),
                onChoose: () => show("servers"),
              },
            ]}
          />
          <Banners state={state} actions={actions} />
          {state.deletedHere !== undefined && (
            <DeletedTask
              key={state.deletedHere.id}
              task={state.deletedHere}
              onUndo={actions.restoreTask}
              onDismiss={actions.dismissDeletion}
            />
          )}
          {shown?.list === "openAsks" && (
            <ServersContext value={servers}>
              <OpenAsks
                key={shown.times}
                inbox={state.inbox}
                at={shown.at}
                tasks={state.tasks ?? []}
                onOpen={openMessage}
                onAnswer={async (params) => {
                  await actions.answer(params);
                }}
                onDraft={actions.saveDraft}
                onClaim={async (params) => {
                  const { taskId, messageId } = await actions.claimAsk(params);
                  if (taskId === undefined) return;
                  if (messageId !== undefined) openMessage(taskId, messageId);
                  else actions.openTask(taskId);
                }}
                onRetry={actions.listOpenAsks}
                onClose={hide}
              />
            </ServersContext>
          )}
          {shown?.list === "mcpTasks" && (
            <McpTasks
              key={shown.times}
              known={state.mcpTasks}
              ofServers={state.serverMcpTasks}
              here={takesCalls(conversation)}
              tasks={state.tasks ?? []}
              onOpen={openMessage}
              onFollow={async (task) => {
                const started = await actions.followMcpTask(task);
                if (started === undefined) return false;
                openMessage(started.taskId, started.messageId);
                return true;
              }}
              onMore={actions.moreMcpTasks}
              onRetry={actions.listMcpTasks}
              onClose={hide}
            />
          )}
          {shown?.list === "grants" && (
            <Grants
              key={shown.times}
              known={state.grants}
              at={shown.at}
              models={models}
              serverNames={servers?.map(({ name }) => name) ?? []}
              onServer={(serverName) => actions.listModels(serverName)}
              onCreate={actions.createGrant}
              onPreview={actions.previewGrant}
              onRevoke={actions.revokeGrant}
              onOpen={openMessage}
              onRetry={actions.listGrants}
              onClose={hide}
            >
              <DeclinedServers
                declined={state.inbox.declined}
                actions={actions}
                label={l10n.t("Servers that are declined everything")}
              />
              <ToolRules
                known={state.toolRules}
                tasks={state.tasks ?? []}
                onRemove={actions.removeToolRule}
              />
            </Grants>
          )}
          {shown?.list === "servers" && (
            <Servers
              key={shown.times}
              {...{ servers, offers, grants, actions }}
              serverName={shown.at}
              problems={state.problems}
              inspections={state.inspections}
              tasks={state.tasks ?? []}
              news={state.tasks}
              onShowGrants={() => show("grants")}
              onOpen={openMessage}
              onClose={hide}
            />
          )}
          {conversation !== undefined ? (
            <SettingsContext value={state.settings}>
              {/* The servers of another workspace are not known here. */}
              <ServersContext value={foreign ? undefined : servers}>
                <DeclinedContext value={state.inbox.declined}>
                  <ChatView
                    key={conversation.taskId}
                    ref={chat}
                    {...{ conversation, actions }}
                    begin={<FirstSteps {...{ state, actions }} />}
                    onShowAsk={(askId) => dock.current?.show(askId)}
                  />
                </DeclinedContext>
                <AskDock
                  key={`dock ${conversation.taskId}`}
                  ref={dock}
                  {...{ conversation, actions }}
                  models={modelsFor(state, conversation.task)}
                  older={Math.max(0, (conversation.task?.openAsks ?? 0) - asks.length)}
                  onOlder={(which) => {
                    const older = olderAsks(state);
                    const ask = which === "first" ? older[0] : older.at(-1);
                    if (ask === undefined) actions.loadEarlier();
                    else openMessage(ask.taskId, ask.messageId);
                  }}
                  onLeave={() => composer.current?.park()}
                />
              </ServersContext>
            </SettingsContext>
          ) : (
            <Home state={state} actions={actions} />
          )}
          {conversation !== undefined && !foreign && (
            <DeclinedServers
              declined={state.inbox.declined}
              actions={actions}
              label={l10n.t("Declined without asking")}
            />
          )}
          {conversation?.task?.running === true && asks.length === 0 && (
            <TurnLine messages={conversation.messages} />
          )}
          {open?.workspace !== undefined && open.closed !== true && (
            <OtherWorkspace task={open} workspace={open.workspace} actions={actions} />
          )}
          {isRead && !foreign && open?.closed !== true && (
            <Composer
              key={conversation?.taskId ?? ""}
              ref={composer}
              taskId={conversation?.taskId}
              task={conversation?.task}
              models={models.get("")?.models}
              picksFiles={state.picksFiles}
              {...{ servers, offers, actions }}
              onBegin={askForComposer}
            />
          )}
          {!foreign && servers?.length === 0 && (conversation?.messages.length ?? 0) > 0 && (
            <NoServers
              onConfigure={() => actions.openConfiguration({})}
              onImport={state.imports ? actions.importServers : undefined}
            />
          )}
          {!foreign && servers !== undefined && servers.length > 0 && (
            <Runner
              {...{ servers, offers, runner, firstControl, actions }}
              onChange={changeRunner}
              blocked={
                conversation?.task?.closed
                  ? l10n.t("This task is closed. Make a new one to use a server.")
                  : undefined
              }
            />
          )}
          <Announcer taskId={conversation?.taskId} asks={asks} />
        </div>
      </GrantsContext>
    </ViewContext>
  );
}

/** What stands in the place of a conversation: the tasks to choose from, or a welcome. */
interface HomeProps {
  readonly state: State;
  readonly actions: Actions;
}

function Home({ state, actions }: HomeProps) {
  const { tasks, servers } = state;
  if (tasks === undefined || servers === undefined) return <main className="chat" />;
  if (tasks.length === 0) return <Welcome {...{ state, actions }} />;
  return <TaskChoice tasks={tasks} onOpen={actions.openTask} />;
}

/**
 * Reads which models a server may have, again for each of its requests that waits for approval and each
 * answer that waits for review.
 */
function useModels({ conversation, sidecar, models }: State, actions: Actions): void {
  const running = sidecar.state === "running";
  const asked = useRef(new Set<string>());
  const hadModels = useRef(false);
  useEffect(() => {
    // What a sidecar said is over with it, and with the way to it.
    if (!running || (hadModels.current && models.size === 0)) asked.current.clear();
    hadModels.current = models.size > 0;
    if (!running) return;
    // Those of a conversation: no server asks for them.
    if (!asked.current.has("")) {
      asked.current.add("");
      actions.listModels("");
    }
    const news = openAsksOf(conversation).filter(
      ({ askId, question }) =>
        (question.type === "mcp_sampling" || question.type === "mcp_sampling_review") &&
        !asked.current.has(askId),
    );
    for (const { askId } of news) asked.current.add(askId);
    const servers = new Set(news.map(({ question }) => question.serverName));
    for (const serverName of servers) actions.listModels(serverName, conversation?.task);
  }, [running, conversation, models, actions]);
}

/**
 * Keeps which ask had the focus last. VS Code takes the focus from the page to run a command, so that a
 * command finds nothing that has it.
 */
function useLastAsk(): RefObject<string | undefined> {
  const last = useRef<string>(undefined);
  useEffect(() => {
    const onFocusIn = () => {
      last.current = focusedAskId() ?? last.current;
    };
    document.addEventListener("focusin", onFocusIn);
    return () => document.removeEventListener("focusin", onFocusIn);
  }, []);
  return last;
}

/** Where an ask is in the inbox, or was while it was open. */
function placeOf({ inbox, conversation }: State, askId: string | undefined): AskPlace | undefined {
  const unclaimed = inbox.unclaimed.find(({ id }) => id === askId);
  if (unclaimed !== undefined) return unclaimedStop(unclaimed);
  const entry = inbox.entries?.find((ask) => ask.askId === askId);
  if (entry !== undefined || conversation === undefined) return entry;
  const { taskId, messages } = conversation;
  const message = messages.find(({ body }) => body.type === "ask" && body.askId === askId);
  const workspace = conversation.task?.workspace;
  return message && { workspace, taskId, messageId: message.id, time: message.time };
}

/** What can be brought into view of the panel itself. */
interface Ways {
  readonly chat: RefObject<ChatHandle | null>;
  readonly askForRunner: (serverName: string | undefined) => void;
  readonly askForComposer: () => void;
  /** Puts a text into the composer; reports whether there is one. */
  readonly insert: (text: string) => boolean;
  readonly show: (list: List, at?: string) => void;
  readonly openMessage: (taskId: string, messageId: number) => void;
}

/** Does what the host, or a button, wants to be brought into view, as soon as that is there. */
function useReveal(state: State, actions: Actions, ways: Ways): void {
  const { chat, askForRunner, askForComposer, insert, show, openMessage } = ways;
  const { reveal, sidecar, tasks, servers, conversation, inbox } = state;
  const lastAsk = useLastAsk();
  const stepped = useRef<AskPlace>(undefined);
  const followed = useRef<Reveal>(undefined);
  // Where an older page was asked for: one that did not come is not asked for again and again.
  const paged = useRef<{ readonly reveal: Reveal; readonly oldest: number }>(undefined);
  useEffect(() => {
    if (reveal === undefined || sidecar.state !== "running") return;
    if (tasks === undefined || servers === undefined) return;
    switch (reveal.kind) {
      case "newTask":
        actions.revealed();
        actions.newTask();
        askForComposer();
        return;
      case "exampleServer":
        actions.revealed();
        actions.tryExampleServer();
        return;
      case "restoreTask":
        actions.revealed();
        actions.restoreTask();
        return;
      case "draft":
        if (isBeingRead(conversation)) return;
        if (insert(reveal.text)) {
          actions.revealed();
        } else if (conversation !== undefined && followed.current !== reveal) {
          followed.current = reveal;
          actions.newTask(); // the open one takes no messages
        }
        return;
      case "task":
        actions.revealed();
        actions.openTask(reveal.taskId);
        return;
      case "toolRunner":
        actions.revealed();
        if (conversation?.task?.workspace !== undefined) actions.newTask();
        askForRunner(reveal.serverName);
        return;
      case "ask": {
        if (isBeingRead(conversation)) return;
        const [oldest] = openAsksOf(conversation);
        const first = inbox.entries?.find(({ taskId }) => taskId === conversation?.taskId);
        if (first !== undefined && conversation?.earlier && isOnOlderPage(first, conversation)) {
          openMessage(first.taskId, first.messageId);
          return;
        }
        const [task] = otherTasksWaiting(state);
        // To another task once: two tasks that each point to the other must not go on for ever.
        if (oldest === undefined && task !== undefined && followed.current !== reveal) {
          followed.current = reveal;
          actions.openTask(task.id);
          return;
        }
        actions.revealed();
        if (oldest !== undefined) chat.current?.showAsk(oldest.askId);
        else if (inbox.unclaimed.length > 0) show("openAsks");
        return;
      }
      case "nextAsk":
      case "previousAsk": {
        if (inbox.entries === undefined && inbox.failure === undefined) return;
        const way = reveal.kind === "nextAsk" ? "next" : "previous";
        const at = placeOf(state, lastAsk.current) ?? stepped.current;
        const to = stepFrom(stopsOf(inbox), at, way);
        if (to === undefined) {
          actions.revealed();
          show("openAsks");
          return;
        }
        stepped.current = to;
        lastAsk.current = to.askId;
        if (to.unclaimed) {
          actions.revealed();
          show("openAsks", to.askId);
          return;
        }
        openMessage(to.taskId, to.messageId);
        return;
      }
      case "openAsks":
      case "mcpTasks":
        actions.revealed();
        show(reveal.kind);
        return;
      case "grants":
        actions.revealed();
        show("grants", reveal.grantId);
        return;
      case "servers":
        actions.revealed();
        show("servers", reveal.serverName);
        return;
      case "message": {
        if (conversation?.taskId !== reveal.taskId && followed.current !== reveal) {
          followed.current = reveal;
          actions.openTask(reveal.taskId);
          return;
        }
        if (isBeingRead(conversation)) return;
        const oldest = conversation?.messages[0]?.id;
        const asked = paged.current?.reveal === reveal && paged.current.oldest === oldest;
        if (oldest !== undefined && reveal.messageId < oldest && conversation?.earlier && !asked) {
          paged.current = { reveal, oldest };
          actions.loadEarlier(reveal.messageId);
          return;
        }
        actions.revealed();
        if (conversation?.taskId === reveal.taskId) chat.current?.show(reveal.messageId);
        return;
      }
      default:
        unreachable(reveal);
    }
  });
}

/** Returns the open asks of the open task on pages that were not read, the oldest first. */
function olderAsks({ inbox, conversation }: State): readonly AskStop[] {
  if (conversation === undefined) return [];
  return stopsOf(inbox).filter(
    (stop) =>
      !stop.unclaimed && stop.taskId === conversation.taskId && isOnOlderPage(stop, conversation),
  );
}

/** How many asks wait in tasks of other workspaces that are not open. */
function othersWaiting({ inbox, conversation }: State): number {
  const others = inbox.entries?.filter(
    ({ workspace, taskId }) => workspace !== undefined && taskId !== conversation?.taskId,
  );
  return others?.length ?? 0;
}

function runningCalls(conversation: Conversation | undefined): number {
  const messages = conversation?.messages ?? [];
  return messages.filter(({ body }) => body.type === "call" && body.result === undefined).length;
}

function isBeingRead(conversation: Conversation | undefined): boolean {
  if (conversation === undefined) return false;
  const { behind, failure, paging } = conversation;
  return (behind !== undefined && failure === undefined) || paging;
}

function isOnOlderPage({ messageId }: AskPlace, { messages }: Conversation): boolean {
  const oldest = messages[0];
  return oldest !== undefined && messageId < oldest.id;
}
