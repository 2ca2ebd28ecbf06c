import type { ServerDecision } from "@assent/protocol";
import type { PageToOpen, Reveal, ServerToConfirm, SidecarStatus } from "@assent/protocol/host";
import type { Client } from "../link/client.ts";
import { type Change, set } from "./state.ts";
import type { Store } from "./store.ts";

export interface HostState {
  readonly link: Link;
  readonly sidecar: SidecarStatus;
  /** What the host wants to reveal, until it is visible. */
  readonly reveal: Reveal | undefined;
  /** The host can copy servers of other programs. */
  readonly imports: boolean;
  /** The host lets the person choose files. */
  readonly picksFiles: boolean;
  /** The host lets the person set up models, and has a walkthrough. */
  readonly setsUp: boolean;
  /** The host finds the addresses of apps' frames. */
  readonly mapsFrames: boolean;
  /** Pages that the person may open, oldest first. */
  readonly pages: readonly PageToOpen[];
  /** Servers that wait for the person's decision whether they may run, oldest first. */
  readonly confirmations: readonly ServerToConfirm[];
  /** The host's suggestions for the first message of a new task; undefined if it has none. */
  readonly prompts: readonly string[] | undefined;
}

declare module "./state.ts" {
  interface State extends HostState {}
}

/** The connection to the host. In VS Code it is always up. */
export type Link = { readonly up: true } | { readonly up: false; readonly retryInMs: number };

export const initialHost: HostState = {
  link: { up: true },
  sidecar: { state: "starting" },
  reveal: undefined,
  imports: false,
  picksFiles: false,
  setsUp: false,
  mapsFrames: false,
  pages: [],
  confirmations: [],
  prompts: undefined,
};

/**
 * Applies the sidecar's status. A new sidecar is asked for everything; the open task is read from its last event on.
 * The store's state and the servers' offers of the earlier sidecar are dropped.
 */
export function statusReceived(status: SidecarStatus): Change {
  return (state) => {
    const { conversation } = state;
    if (status.state !== "running") return { ...state, sidecar: status };
    return {
      ...state,
      sidecar: status,
      // Known tasks stay visible until the sidecar answers.
      tasks: state.tasks?.map((task) => ({ ...task, lastNumber: 0 })),
      // It may have deleted these for good.
      deletedTasks: [],
      deletedHere: undefined,
      inbox: { ...state.inbox, missed: true },
      mcpTasks: { ...state.mcpTasks, missed: true },
      // No server is running yet.
      serverMcpTasks: { ...state.serverMcpTasks, listed: undefined, failure: undefined },
      storageFailure: undefined,
      storageNote: undefined,
      // "Assent is starting. Try again in a moment."
      failure: undefined,
      models: new Map(),
      offers: new Map(),
      inspections: new Map(),
      conversation: conversation && {
        ...conversation,
        behind: conversation.lastNumber,
        buffered: [],
        failure: undefined,
      },
    };
  };
}

export type HostActions = ReturnType<typeof createHost>["actions"];

/** `onStatus` is called with the sidecar's status. */
export function createHost(store: Store, onStatus: (status: SidecarStatus) => void) {
  const { request, attempt } = store;
  const reveal = (what: Reveal): void => store.update(set({ reveal: what }));

  return {
    listen(client: Client): void {
      client.onNotification("host/sidecarStatus", onStatus);
      client.onNotification("host/reveal", reveal);
      client.onNotification("host/pages", ({ pages }) => store.update(set({ pages })));
      client.onNotification("host/confirmations", ({ confirmations }) =>
        store.update(set({ confirmations })),
      );
    },
    /** Tells the host that this page is ready, and applies the current state. */
    async begin(client: Client): Promise<void> {
      const { status, reveal: wanted, ...ready } = await client.request("host/ready");
      const { prompts, pages = [], confirmations = [] } = ready;
      const { imports = false, picksFiles = false, setsUp = false, mapsFrames = false } = ready;
      store.update(set({ imports, picksFiles, setsUp, mapsFrames, prompts, pages, confirmations }));
      onStatus(status);
      if (wanted !== undefined) reveal(wanted);
    },
    actions: {
      restartSidecar: (): void => attempt(() => request("host/restartSidecar")),
      showLog: (): void => attempt(() => request("host/showLog")),
      /** The host has the person choose a model, give a key, or read the walkthrough. Only for a host that `setsUp`. */
      chooseModel: (): void => attempt(() => request("host/chooseModel")),
      setModelApiKey: (): void => attempt(() => request("host/setModelApiKey")),
      openWalkthrough: (): void => attempt(() => request("host/openWalkthrough")),
      /** Tells the host whether the page has the keyboard focus; in VS Code only. */
      focusChanged: (focused: boolean): void => attempt(() => request("host/focus", { focused })),
      reveal,
      revealed: (): void => store.update(set({ reveal: undefined })),
      /** Tells the host the outcome of a page that it asked the person to open. */
      pageDone: (id: number, opened: boolean): void =>
        attempt(() => request("host/pageDone", { id, opened })),
      /** Tells the host whether a server may run. Without a decision it does not, and the person is asked again. */
      confirmServer: (id: string, decision?: ServerDecision): void =>
        attempt(() =>
          request("host/confirmed", { id, ...(decision !== undefined && { decision }) }),
        ),
      dismissFailure: (): void => store.update(set({ failure: undefined })),
    },
  };
}
