import { ErrorCode } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type Client, messageOf, RpcError } from "../link/client.ts";
import type { ViewStateStore } from "../view/viewState.ts";
import { type Change, type State, set } from "./state.ts";

/** The state and the connection to the sidecar, which the domains of the store share. */
export interface Store {
  readonly view: ViewStateStore;
  /** The current state. */
  readonly state: State;
  /** Calls back after every change, until the returned function is called. */
  subscribe(onChange: () => void): () => void;
  update(change: Change): void;
  /** Applies a change. If the change shows that something was missed, that is read. */
  onEvent(change: Change): void;
  /** Registers a function that reads missed changes. */
  afterEvents(readMissing: () => void): void;
  /** Calls the registered functions in the order of their registration. */
  readMissing(): void;
  /** Sends a request. Rejects with an {@link RpcError}, also if there is no connection. */
  readonly request: Client["request"];
  /** Starts an action without waiting for it. If it fails, the person is told. */
  attempt(work: () => Promise<unknown>): void;
  /** Sets the client that carries requests; undefined while there is no connection. */
  connect(client: Client | undefined): void;
}

export function createStore(initial: State, view: ViewStateStore): Store {
  let state = initial;
  let client: Client | undefined;
  const listeners = new Set<() => void>();
  const readers: (() => void)[] = [];

  const update = (change: Change): void => {
    const before = state;
    state = change(state);
    if (state === before) return;
    for (const listener of listeners) listener();
  };

  const readMissing = (): void => {
    for (const read of readers) read();
  };

  return {
    view,
    get state() {
      return state;
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    update,
    onEvent(change) {
      update(change);
      readMissing();
    },
    afterEvents: (read) => readers.push(read),
    readMissing,
    async request(method, ...args) {
      if (client === undefined) {
        throw new RpcError(
          ErrorCode.Unavailable,
          l10n.t("There is no connection to Assent right now."),
        );
      }
      return await client.request(method, ...args);
    },
    attempt(work) {
      void (async () => {
        try {
          await work();
        } catch (error) {
          update(set({ failure: messageOf(error) }));
        }
      })();
    },
    connect(next) {
      client = next;
    },
  };
}
