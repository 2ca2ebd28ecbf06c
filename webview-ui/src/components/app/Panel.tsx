import * as l10n from "@vscode/l10n";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { GrantsContext } from "../../store/contexts.ts";
import { openAsksOf } from "../../store/openAsks.ts";
import { grantsOf } from "../../store/policy.ts";
import { modelsFor } from "../../store/servers.ts";
import type { Actions, Session } from "../../store/session.ts";
import type { State } from "../../store/state.ts";
import { tasksToList, unusedHere } from "../../store/tasks.ts";
import { ViewContext } from "../../view/ViewContext.ts";
import type { RunnerState, ViewStateStore } from "../../view/viewState.ts";
import { Composer, type ComposerHandle } from "../composer/Composer.tsx";
import { TurnLine } from "../composer/TurnLine.tsx";
import type { ChatHandle } from "../conversation/ChatView.tsx";
import type { DockHandle } from "../dock/AskDock.tsx";
import { DockLine } from "../dock/DockLine.tsx";
import { PossibleAsk } from "../inbox/PossibleAsk.tsx";
import { useAskKeys } from "../inbox/useAskKeys.ts";
import { DeclinedServers } from "../policy/DeclinedServers.tsx";
import { DeletedTask } from "../tasks/DeletedTask.tsx";
import { OtherWorkspace } from "../tasks/OtherWorkspace.tsx";
import { TaskChoice } from "../tasks/TaskChoice.tsx";
import { Welcome } from "../tasks/Welcome.tsx";
import { NoServers } from "../tools/NoServers.tsx";
import { Runner } from "../tools/Runner.tsx";
import { Announcer } from "./Announcer.tsx";
import { Banners } from "./Banners.tsx";
import { Head } from "./Head.tsx";
import { OpenTask } from "./OpenTask.tsx";
import { ShownPage } from "./ShownPage.tsx";
import { useModels } from "./useModels.ts";
import { usePages } from "./usePages.ts";
import { useReveal } from "./useReveal.ts";

export interface PanelProps {
  readonly session: Session;
  readonly view: ViewStateStore;
}

/** The panel: its head, the open task and the controls below it, or a page in place of these. */
export function Panel({ session, view }: PanelProps) {
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const { actions } = session;
  const { conversation, deletedHere, policy } = state;
  const open = conversation?.task;
  const foreign = open?.workspace !== undefined;
  const grants = useMemo(() => grantsOf(policy.entries), [policy.entries]);
  const asks = useMemo(() => openAsksOf(conversation), [conversation]);
  const chat = useRef<ChatHandle>(null);
  const dock = useRef<DockHandle>(null);
  const { composer, askForComposer, isRead } = useComposer(state);
  const runner = useRunner(view);
  const { page, left, inbox, more, show, back, leave } = usePages(actions);
  const openMessage = (taskId: string, messageId: number) => {
    leave();
    actions.reveal({ kind: "message", taskId, messageId });
  };
  const newTask = () => {
    if (open !== undefined && open.id === unusedHere(state)?.id) {
      composer.current?.park();
      return;
    }
    askForComposer();
    actions.newTask();
  };
  const insert = (text: string) => {
    composer.current?.insert(text);
    return composer.current !== null;
  };
  useModels(state, actions);
  useReveal(state, actions, {
    ...{ chat, askForRunner: runner.ask, newTask, insert, show, openMessage },
    isPageShown: page !== undefined,
    leavePages: leave,
  });
  useAskKeys(state.sidecar.state === "running", actions);

  return (
    <ViewContext value={view}>
      <GrantsContext value={grants}>
        <div className="app">
          <Banners state={state} actions={actions} />
          {deletedHere !== undefined && (
            <DeletedTask
              key={deletedHere.id}
              task={deletedHere}
              onUndo={actions.restoreTask}
              onDismiss={actions.dismissDeletion}
            />
          )}
          <div className="view">
            <div className="task-view" inert={page !== undefined}>
              <Head
                {...{ state, actions, inbox, more }}
                onShow={show}
                onFind={() => chat.current?.find()}
                onNewTask={newTask}
              />
              {conversation === undefined ? (
                <Home state={state} actions={actions} />
              ) : (
                <OpenTask
                  {...{ conversation, state, actions, chat, dock }}
                  onOpenMessage={openMessage}
                  onLeaveDock={() => composer.current?.park()}
                />
              )}
              {conversation !== undefined && (
                <PossibleAsk
                  unattributed={state.inbox.unattributed}
                  taskId={conversation.taskId}
                  onShow={(askId) => show("openAsks", askId)}
                />
              )}
              {conversation !== undefined && !foreign && (
                <DeclinedServers
                  declined={state.inbox.declined}
                  actions={actions}
                  label={l10n.t("Declined without asking")}
                />
              )}
              {open?.running === true && asks.length === 0 && (
                <TurnLine task={open} messages={conversation?.messages ?? []} actions={actions} />
              )}
              {open?.workspace !== undefined && open.closed !== true && (
                <OtherWorkspace task={open} workspace={open.workspace} actions={actions} />
              )}
              {isRead && !foreign && open?.closed !== true && (
                <Composer
                  key={conversation?.taskId ?? ""}
                  ref={composer}
                  taskId={conversation?.taskId}
                  task={open}
                  models={modelsFor(state, undefined).get("")?.models}
                  picksFiles={state.picksFiles}
                  servers={state.servers ?? []}
                  offers={state.offers}
                  actions={actions}
                  onBegin={askForComposer}
                />
              )}
              {!foreign && <Tools {...{ state, actions, runner }} />}
            </div>
            {page !== undefined && (
              <main className="page-view">
                <h1 className="visually-hidden">Assent</h1>
                <ShownPage
                  key={page.key}
                  {...{ page, state, actions }}
                  leftServer={left?.name === "servers" ? left.at : undefined}
                  onShow={show}
                  onOpen={openMessage}
                  onOpenTask={(taskId) => {
                    leave();
                    actions.openTask(taskId);
                  }}
                  onBack={back}
                />
                {conversation !== undefined && (
                  <DockLine
                    conversation={conversation}
                    onShow={(askId) => {
                      leave();
                      dock.current?.show(askId);
                    }}
                    onShowOlder={() => actions.reveal({ kind: "ask" })}
                  />
                )}
              </main>
            )}
          </div>
          <Announcer taskId={conversation?.taskId} asks={asks} />
        </div>
      </GrantsContext>
    </ViewContext>
  );
}

interface PartProps {
  readonly state: State;
  readonly actions: Actions;
}

/** Shown instead of a conversation: the tasks to choose from, or a welcome. */
function Home({ state, actions }: PartProps) {
  if (state.tasks === undefined || state.servers === undefined) return <main className="chat" />;
  const tasks = tasksToList(state);
  if (tasks.length === 0) return <Welcome {...{ state, actions }} />;
  return <TaskChoice tasks={tasks} onOpen={actions.openTask} />;
}

/** The tool runner. Without servers, the ways to add some. */
function Tools({ state, actions, runner }: PartProps & { readonly runner: RunnerHandle }) {
  const { servers, offers, conversation } = state;
  if (servers === undefined) return null;
  if (servers.length === 0) {
    if ((conversation?.messages.length ?? 0) === 0) return null;
    return (
      <NoServers
        onConfigure={() => actions.openConfiguration({})}
        onImport={state.imports ? actions.importServers : undefined}
      />
    );
  }
  return (
    <Runner
      {...{ servers, offers, actions }}
      runner={runner.runner}
      firstControl={runner.firstControl}
      onChange={runner.change}
      blocked={
        conversation?.task?.closed
          ? l10n.t("This task is closed. To use a server, create a new task.")
          : undefined
      }
    />
  );
}

type RunnerHandle = ReturnType<typeof useRunner>;

/** The tool runner's state, which survives the page. */
function useRunner(view: PanelProps["view"]) {
  const [runner, setRunner] = useState(view.get().runner);
  const [asked, setAsked] = useState(0);
  const firstControl = useRef<HTMLSelectElement>(null);
  useEffect(() => {
    if (asked > 0) firstControl.current?.focus();
  }, [asked]);
  const change = (next: RunnerState) => {
    setRunner(next);
    view.update((kept) => ({ ...kept, runner: next }));
  };
  const ask = (serverName: string | undefined) => {
    change({ ...(serverName === undefined ? runner : { serverName }), open: true });
    setAsked(asked + 1);
  };
  return { runner, firstControl, change, ask };
}

/**
 * The composer of a new task takes the focus when it appears. In a browser the page has the focus at first; in VS Code
 * an editor may have it.
 */
function useComposer({ conversation, servers, tasks }: State) {
  const composer = useRef<ComposerHandle>(null);
  const asked = useRef(false);
  const openId = conversation?.taskId;
  const isRead = servers !== undefined && tasks !== undefined;
  useEffect(() => {
    if (!isRead) return;
    const { activeElement, body } = document;
    const atFirst = body.dataset["host"] === "browser" && activeElement === body;
    if (!atFirst && (openId === undefined || !asked.current)) return;
    asked.current = false;
    composer.current?.park();
  }, [openId, isRead]);
  const askForComposer = () => {
    asked.current = true;
  };
  return { composer, askForComposer, isRead };
}
