import type { SidecarStatus } from "@assent/protocol/host";
import type { LinkListener } from "../link/bridge.ts";
import type { Client } from "../link/client.ts";
import type { ViewStateStore } from "../view/viewState.ts";
import { type AppsActions, createApps } from "./apps.ts";
import { type AsksActions, createAsks, initialAsks } from "./asks.ts";
import { type CallsActions, createCalls } from "./calls.ts";
import { type ChatActions, createChat } from "./chat.ts";
import {
  type ConversationActions,
  createConversation,
  initialConversation,
} from "./conversation.ts";
import { createHost, type HostActions, initialHost, statusReceived } from "./host.ts";
import { createIcons, type IconsActions, initialIcons } from "./icons.ts";
import { createMcpTasks, initialMcpTasks, type McpTasksActions } from "./mcpTasks.ts";
import { createOffers, initialOffers, type OffersActions } from "./offers.ts";
import { createPolicy, initialPolicy, type PolicyActions } from "./policy.ts";
import { createServers, initialServers, type ServersActions } from "./servers.ts";
import { createSetup, type SetupActions } from "./setup.ts";
import { type State, set } from "./state.ts";
import { createStorage, initialStorage, type StorageActions } from "./storage.ts";
import { createStore } from "./store.ts";
import { createTasks, initialTasks, type TasksActions } from "./tasks.ts";

/** The actions of the person. A failed action is noted in the state, unless the action returns a promise. */
export interface Actions
  extends HostActions,
    StorageActions,
    TasksActions,
    ConversationActions,
    ChatActions,
    CallsActions,
    AppsActions,
    AsksActions,
    McpTasksActions,
    PolicyActions,
    ServersActions,
    OffersActions,
    IconsActions,
    SetupActions {}

/** The state, and everything that changes it. It does not depend on components. */
export interface Session extends LinkListener {
  getState(): State;
  /** Calls back after every change, until the returned function is called. */
  subscribe(onChange: () => void): () => void;
  readonly actions: Actions;
}

export const initialState: State = {
  failure: undefined,
  ...initialHost,
  ...initialStorage,
  ...initialTasks,
  ...initialConversation,
  ...initialAsks,
  ...initialMcpTasks,
  ...initialPolicy,
  ...initialServers,
  ...initialOffers,
  ...initialIcons,
};

export function createSession(view: ViewStateStore): Session {
  const store = createStore(initialState, view);
  const conversation = createConversation(store);
  const tasks = createTasks(store, conversation.select);
  const asks = createAsks(store, conversation.readAgain);
  const mcpTasks = createMcpTasks(store, tasks.createTask);
  const policy = createPolicy(store);
  const servers = createServers(store);
  const offers = createOffers(store);
  const icons = createIcons(store);
  const storage = createStorage(store);
  const apps = createApps(store);
  const host = createHost(store, onStatus);

  /** Reads everything from a running sidecar. */
  function onStatus(status: SidecarStatus): void {
    store.update(statusReceived(status));
    if (status.state !== "running") {
      apps.ended();
      return;
    }
    icons.forget();
    store.attempt(servers.listServers);
    store.attempt(() => tasks.listTasks(true));
    store.readMissing();
    policy.listPolicy();
  }

  return {
    getState: () => store.state,
    subscribe: store.subscribe,
    actions: {
      ...host.actions,
      ...storage.actions,
      ...tasks.actions,
      ...conversation.actions,
      ...createChat(store, tasks).actions,
      ...createCalls(store, tasks.createTask).actions,
      ...apps.actions,
      ...asks.actions,
      ...mcpTasks.actions,
      ...policy.actions,
      ...servers.actions,
      ...offers.actions,
      ...icons.actions,
      ...createSetup(store).actions,
    },
    up(client: Client) {
      store.connect(client);
      const domains = [host, conversation, asks, policy, servers, offers, storage];
      for (const domain of domains) domain.listen(client);
      store.update(set({ link: { up: true } }));
      store.attempt(() => host.begin(client));
    },
    down(retryInMs) {
      store.connect(undefined);
      apps.ended();
      store.update(set({ link: { up: false, retryInMs } }));
    },
  };
}
