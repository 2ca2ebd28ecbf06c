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

/** Called when the connection to the host is up or down. */
export interface LinkListener {
  up(client: Client): void;
  /** The next try is in this many milliseconds. */
  down(retryInMs: number): void;
}

/** The connection to the outside: to the extension in VS Code, to the daemon in a browser. */
export interface Bridge {
  readonly storage: ViewStorage;
  /** Keeps the connection to the host for the page's lifetime. */
  connect(listener: LinkListener): void;
}

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** Finds out where the page runs. VS Code provides its API once for each page, so call this once. */
export function createBridge(): Bridge {
  return typeof acquireVsCodeApi === "function"
    ? vsCodeBridge(acquireVsCodeApi(), document.body.dataset["view"])
    : browserBridge(window.location, window.sessionStorage);
}

/** How long a change of the view waits before it is sent to the host, in milliseconds. */
const keepPause = 300;

/**
 * VS Code gives its state to the next page of a hidden view at once, but writes it to disk seconds later. The host
 * stores its copy at once, but gives it only to the first page of a window. The newer one is used.
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
      // VS Code has it as well, and the next change is sent again.
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

/** When a view's state was saved. A state without a time is the oldest. */
function timeOf(state: unknown): number {
  if (typeof state !== "object" || state === null || !("savedAt" in state)) return 0;
  return typeof state.savedAt === "number" ? state.savedAt : 0;
}

/** Parses a stored state as JSON. An invalid one counts as missing. */
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
        // VS Code posts from the page's own origin. A frame of the page has another one, and must not speak for the host.
        if (event.origin === window.origin && isMessage(event.data)) push(event.data);
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

/** Opens a WebSocket, and another one after growing pauses whenever it closes. */
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
        // The storage quota is exceeded. The view works, but its state is not stored.
      }
    },
  };
}

/** Reports whether a message is JSON-RPC. A page gets other messages too. */
function isMessage(value: unknown): value is Message {
  return (
    typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0"
  );
}

/** A reader of whole messages that are pushed to it. */
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

/** A writer that passes whole messages to a function. */
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
