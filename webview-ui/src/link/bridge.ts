import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type DataCallback,
  Disposable,
  type Message,
  type MessageReader,
  type MessageWriter,
} from "vscode-jsonrpc/browser";
import type { ViewState, ViewStorage } from "../view/viewState.ts";
import { type Channel, type Client, createClient } from "./client.ts";

/** Told when there is a host to talk to, and when there is none. */
export interface LinkListener {
  up(client: Client): void;
  /** The next try is due in so many milliseconds. */
  down(retryInMs: number): void;
}

/** The way out of the webview: to the extension in VS Code, to the daemon in a browser. */
export interface Bridge {
  readonly storage: ViewStorage;
  /** Keeps the link to the host for the page's lifetime. */
  connect(listener: LinkListener): void;
}

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** Finds out where the page runs. VS Code lends its API once to each page, so call this once. */
export function createBridge(): Bridge {
  return typeof acquireVsCodeApi === "function"
    ? vsCodeBridge(acquireVsCodeApi(), document.body.dataset["view"])
    : browserBridge(window.location, window.sessionStorage);
}

/** How long the host is told nothing new of the view after it was told something, in milliseconds. */
const keepPause = 300;

/**
 * VS Code hands its state to the next page of a hidden view at once, but writes it down seconds later. What the
 * host keeps is written at once, and handed to the first page of a window alone. The newer one counts.
 */
function vsCodeBridge(api: VsCodeApi, keptByHost: string | undefined): Bridge {
  let client: Client | undefined;
  let pausing = false;
  let untold: unknown;
  const tell = () => {
    if (pausing || untold === undefined || client === undefined) return;
    const view = untold;
    untold = undefined;
    pausing = true;
    setTimeout(() => {
      pausing = false;
      tell();
    }, keepPause);
    client.request("host/keepView", { view }).catch(() => {
      // VS Code has it as well, and the next change is told again.
    });
  };
  return {
    storage: {
      load() {
        const [own, hosts] = [api.getState(), parsed(keptByHost)];
        return timeOf(hosts) > timeOf(own) ? hosts : own;
      },
      save(state) {
        const timed = { ...state, savedAt: Date.now() };
        api.setState(timed);
        untold = timed;
        tell();
      },
    },
    connect(listener) {
      client = createClient(postMessageChannel(api));
      listener.up(client);
      tell();
    },
  };
}

/** When a view's state was saved; before all others where it does not say so. */
function timeOf(state: unknown): number {
  if (typeof state !== "object" || state === null || !("savedAt" in state)) return 0;
  return typeof state.savedAt === "number" ? state.savedAt : 0;
}

/** Reads what was written as JSON; what is not ours, or damaged, is as if it were not there. */
function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return undefined;
  }
}

function postMessageChannel(api: Pick<VsCodeApi, "postMessage">): Channel {
  return {
    reader: new PushReader((push) => {
      const onMessage = (event: MessageEvent<unknown>) => {
        // A sandboxed frame of the page's own says so; it must not speak for the host.
        if (event.origin !== "null" && isMessage(event.data)) push(event.data);
      };
      window.addEventListener("message", onMessage);
      return Disposable.create(() => window.removeEventListener("message", onMessage));
    }),
    writer: new FunctionWriter((message) => api.postMessage(message)),
  };
}

const firstRetryMs = 500;
const lastRetryMs = 10_000;

function browserBridge(location: Location, storage: Storage): Bridge {
  const url = new URL("bridge", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return {
    storage: sessionViewStorage(storage),
    connect: (listener) => keepWebSocket(url, listener),
  };
}

/** Opens a WebSocket, and another one after growing pauses whenever it ends. */
function keepWebSocket(url: URL, listener: LinkListener): void {
  let retryInMs = firstRetryMs;
  const open = () => {
    const socket = new WebSocket(url);
    let client: Client | undefined;
    socket.addEventListener("open", () => {
      retryInMs = firstRetryMs;
      client = createClient(webSocketChannel(socket));
      listener.up(client);
    });
    socket.addEventListener("close", () => {
      client?.dispose();
      listener.down(retryInMs);
      setTimeout(open, retryInMs);
      retryInMs = Math.min(retryInMs * 2, lastRetryMs);
    });
  };
  open();
}

function webSocketChannel(socket: WebSocket): Channel {
  return {
    reader: new PushReader((push) => {
      const onMessage = (event: MessageEvent<unknown>) => {
        const message: unknown = JSON.parse(String(event.data));
        if (isMessage(message)) push(message);
      };
      socket.addEventListener("message", onMessage);
      return Disposable.create(() => socket.removeEventListener("message", onMessage));
    }),
    writer: new FunctionWriter((message) => socket.send(JSON.stringify(message))),
  };
}

const storageKey = "assent.viewState";

function sessionViewStorage(storage: Storage): ViewStorage {
  return {
    load: () => parsed(storage.getItem(storageKey) ?? undefined),
    save(state: ViewState) {
      try {
        storage.setItem(storageKey, JSON.stringify(state));
      } catch {
        // The quota is used up: the view works on and only forgets.
      }
    },
  };
}

/** A page hears other messages too; ours all say that they are JSON-RPC. */
function isMessage(value: unknown): value is Message {
  return (
    typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0"
  );
}

/** Reads whole messages as something pushes them. */
class PushReader extends AbstractMessageReader implements MessageReader {
  private readonly start: (push: DataCallback) => Disposable;
  private listening: Disposable | undefined;

  constructor(start: (push: DataCallback) => Disposable) {
    super();
    this.start = start;
  }

  listen(callback: DataCallback): Disposable {
    this.listening = this.start(callback);
    return this.listening;
  }

  override dispose(): void {
    this.listening?.dispose();
    super.dispose();
  }
}

/** Writes whole messages by calling something. */
class FunctionWriter extends AbstractMessageWriter implements MessageWriter {
  private readonly send: (message: Message) => void;

  constructor(send: (message: Message) => void) {
    super();
    this.send = send;
  }

  async write(message: Message): Promise<void> {
    this.send(message);
  }

  end(): void {}
}
