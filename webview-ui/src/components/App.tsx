import type { Reveal } from "@assent/protocol/host";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Actions, Session } from "../session.ts";
import type { State } from "../state/state.ts";
import { unreachable } from "../unreachable.ts";
import type { RunnerState, ViewStateStore } from "../viewState.ts";
import { Banners } from "./Banners.tsx";
import { Announcer } from "./chat/Announcer.tsx";
import { ChatView } from "./chat/ChatView.tsx";
import { focusAsk } from "./chat/focus.ts";
import { OpenAsksBar } from "./chat/OpenAsksBar.tsx";
import { openAsksOf, waitingElsewhere } from "./chat/openAsks.ts";
import { TaskChoice } from "./tasks/TaskChoice.tsx";
import { TaskHeader } from "./tasks/TaskHeader.tsx";
import { Welcome } from "./tasks/Welcome.tsx";
import { NoServers } from "./tools/NoServers.tsx";
import { Runner } from "./tools/Runner.tsx";
import { ViewContext } from "./ViewContext.ts";

export interface AppProps {
  readonly session: Session;
  readonly view: ViewStateStore;
}

/** The whole panel. */
export function App({ session, view }: AppProps) {
  const state = useSyncExternalStore(session.subscribe, session.getState);
  const { actions } = session;
  const { conversation, models, servers, offers } = state;
  const [runner, setRunner] = useState(view.get().runner);
  const firstControl = useRef<HTMLSelectElement>(null);
  const asks = useMemo(() => openAsksOf(conversation), [conversation]);
  const elsewhere = waitingElsewhere(state);

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

  useModels(state, actions);
  useReveal(state, actions, askForRunner);

  return (
    <ViewContext value={view}>
      <div className="app">
        <TaskHeader tasks={state.tasks ?? []} open={conversation?.task} actions={actions} />
        <Banners state={state} actions={actions} />
        {conversation !== undefined ? (
          <ChatView key={conversation.taskId} {...{ conversation, models, actions }} />
        ) : (
          <Home state={state} actions={actions} />
        )}
        <OpenAsksBar
          here={asks.length}
          elsewhere={elsewhere.reduce((sum, { openAsks }) => sum + openAsks, 0)}
          onShow={() => actions.reveal({ kind: "ask" })}
        />
        {servers?.length === 0 && conversation !== undefined && (
          <NoServers
            onConfigure={() => actions.openConfiguration({})}
            onImport={state.imports ? actions.importServers : undefined}
          />
        )}
        {servers !== undefined && servers.length > 0 && (
          <Runner
            {...{ servers, offers, runner, firstControl, actions }}
            onChange={changeRunner}
            blocked={
              conversation?.task?.closed
                ? "This task is closed. Make a new one to use a server."
                : undefined
            }
          />
        )}
        <Announcer taskId={conversation?.taskId} asks={asks} />
      </div>
    </ViewContext>
  );
}

/** What stands in the place of a conversation: the tasks to choose from, or a welcome. */
function Home({ state, actions }: { readonly state: State; readonly actions: Actions }) {
  const { tasks, servers, imports } = state;
  if (tasks === undefined || servers === undefined) return <main className="chat" />;
  if (tasks.length === 0) return <Welcome {...{ servers, imports, actions }} />;
  return <TaskChoice tasks={tasks} onOpen={actions.openTask} />;
}

/** Learns which models can answer, anew for each request that waits for approval. */
function useModels({ conversation, sidecar }: State, actions: Actions): void {
  const newest = openAsksOf(conversation).findLast(
    ({ question }) => question.type === "mcp_sampling",
  )?.askId;
  const running = sidecar.state === "running";
  useEffect(() => {
    if (running && newest !== undefined) actions.listModels();
  }, [running, newest, actions]);
}

/** Does what the host, or a button, wants to be brought into view, as soon as that is there. */
function useReveal(
  state: State,
  actions: Actions,
  askForRunner: (serverName: string | undefined) => void,
): void {
  const { reveal, sidecar, tasks, servers, conversation } = state;
  const followed = useRef<Reveal>(undefined);
  useEffect(() => {
    if (reveal === undefined || sidecar.state !== "running") return;
    if (tasks === undefined || servers === undefined) return;
    switch (reveal.kind) {
      case "newTask":
        actions.revealed();
        actions.newTask();
        askForRunner(undefined);
        return;
      case "toolRunner":
        actions.revealed();
        askForRunner(reveal.serverName);
        return;
      case "ask": {
        if (conversation?.behind !== undefined && conversation.failure === undefined) return;
        const [oldest] = openAsksOf(conversation);
        const [task] = waitingElsewhere(state);
        // To another task once: two tasks that each point to the other must not go on for ever.
        if (oldest === undefined && task !== undefined && followed.current !== reveal) {
          followed.current = reveal;
          actions.openTask(task.id);
          return;
        }
        actions.revealed();
        if (oldest !== undefined) focusAsk(oldest.askId);
        return;
      }
      default:
        unreachable(reveal);
    }
  });
}
