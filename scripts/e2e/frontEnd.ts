import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { env as environment } from "node:process";
import {
  type Ask,
  type AskResponse,
  type AskResponseParams,
  type Call,
  type CallProgressParams,
  type CallRequest,
  type CallResult,
  type Configuration,
  type Event,
  type FrontEndCapabilities,
  type FrontEndRequests,
  type McpSamplingProgressParams,
  type Message,
  type OpenAsk,
  protocolVersion,
  type SidecarRequests,
  type TaskEventParams,
} from "@assent/protocol";
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { type Handlers, handlerOf } from "../../extension/src/handlers.ts";
import { foldEvent, foldProgress } from "../../webview-ui/src/store/fold.ts";
import { output } from "../tools/lib/command.ts";
import { sidecarBinary } from "../tools/lib/paths.ts";
import { version } from "../tools/lib/version.ts";
import { waitLimit } from "./eventually.ts";
import { fillIn } from "./fillIn.ts";

/** An ask, and the message that it is. */
export interface Shown {
  readonly messageId: number;
  readonly ask: Ask;
}

/** What a front end is, and on what its sidecar works. */
export interface Place {
  /** How the front end introduces itself: "the test of ...". */
  readonly name: string;
  readonly dataFolder: string;
  /** On top of this process's own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly configuration: Configuration;
  /** More flags of the command that attaches. */
  readonly flags?: readonly string[];
  /** Further capabilities of the front end, besides showing asks and opening pages. */
  readonly capabilities?: FrontEndCapabilities;
  /** Handles the sidecar's requests. Without a handler for pages, it records the pages to open. */
  readonly handlers?: Handlers<FrontEndRequests>;
}

type Process = ChildProcessWithoutNullStreams;

/**
 * A front end with one conversation, on a sidecar that may be killed and restarted. Afterwards it has the state that
 * the sidecar stored.
 */
export class FrontEnd {
  /** The conversation, as the panel would have it. */
  messages: readonly Message[] = [];
  /** The progress that servers reported, by the calls' messages. */
  readonly progress = new Map<number, string[]>();
  /** The states of MCP tasks that servers reported, by the calls' messages: "status: statusMessage". */
  readonly statuses = new Map<number, string[]>();
  /** What the sidecar had the person's browser open. */
  readonly opened: string[] = [];
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #place: Place;
  #process: Process | undefined;
  #connection: MessageConnection | undefined;
  #taskId = "";
  /** How often asks of other workspaces changed. */
  #othersChanged = 0;
  /** The daemon is being ended, so that the end of its relay is no surprise. */
  #ending = false;
  /** What the sidecar did that it must never do. */
  #broken: string | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Starts a sidecar, and opens the conversation of the earlier one, if there was one. */
  async start(): Promise<void> {
    const { name, dataFolder, configuration, flags = [], capabilities } = this.#place;
    const process = spawn(sidecarBinary, ["serve", "--data-dir", dataFolder, ...flags], {
      env: { ...environment, ...this.#environment },
    });
    this.#ending = false;
    process.once("close", (code, signal) => {
      if (this.#ending) return;
      this.#broken = `the sidecar ended by itself: ${signal ?? code}`;
      this.#changes.emit("change");
    });
    process.stderr.resume(); // the daemon's log says more
    process.stdin.on("error", () => undefined); // it was killed while we wrote
    const connection = createMessageConnection(
      new StreamMessageReader(process.stdout),
      new StreamMessageWriter(process.stdin),
    );
    connection.onError(() => undefined); // as above
    const handlers: Handlers<FrontEndRequests> = {
      "window/openUrl": ({ url }) => {
        this.opened.push(url);
        this.#changes.emit("change");
        return { opened: true };
      },
      ...this.#place.handlers,
    };
    for (const method of Object.keys(handlers)) {
      const handle = handlerOf(handlers, method);
      if (handle !== undefined) connection.onRequest(method, handle);
    }
    // What happens may overtake the answer to task/open, which was made before it.
    const early: TaskEventParams[] = [];
    const earlyPieces: McpSamplingProgressParams[] = [];
    let opened = false;
    connection.onNotification("task/event", (params: TaskEventParams) => {
      if (opened) this.#fold(params.event);
      else early.push(params);
    });
    connection.onNotification("mcpSamplingProgress", (params: McpSamplingProgressParams) => {
      if (opened) this.#foldPiece(params);
      else earlyPieces.push(params);
    });
    connection.onNotification("callProgress", (params: CallProgressParams) => {
      const { message } = params.progress;
      if (message !== undefined) add(this.progress, params.messageId, message);
    });
    connection.onNotification("ask/othersChanged", () => {
      this.#othersChanged++;
      this.#changes.emit("change");
    });
    connection.listen();
    this.#process = process;
    this.#connection = connection;
    await connection.sendRequest("initialize", {
      protocolVersion,
      clientInfo: { name, version },
      capabilities: { elicitation: true, sampling: true, openUrl: true, ...capabilities },
      configuration,
    });
    if (this.#taskId === "") this.#taskId = (await this.request("task/create", {})).id;
    const { task, messages } = await this.request("task/open", { taskId: this.#taskId });
    this.messages = messages ?? [];
    opened = true;
    for (const { number, event } of early) if (number > task.lastNumber) this.#fold(event);
    for (const piece of earlyPieces) this.#foldPiece(piece);
  }

  /** Ends the daemon with SIGKILL: it gets to do nothing more. */
  async kill(): Promise<void> {
    await this.#end("--force");
  }

  /** Ends the daemon in good order. */
  async stop(): Promise<void> {
    await this.#end();
  }

  /** Ends the daemon, and waits for its relay, which ends with it. */
  async #end(...how: readonly string[]): Promise<void> {
    const process = this.#process;
    if (process === undefined) return;
    this.#ending = true;
    const closed = once(process, "close", { signal: AbortSignal.timeout(waitLimit) });
    await this.#daemon("stop", ...how);
    await closed;
    this.#forget();
  }

  /** Runs a command for the daemon, and returns its output. */
  async #daemon(...args: readonly string[]): Promise<string> {
    return await output(sidecarBinary, ["daemon", ...args], { env: this.#environment });
  }

  /** Additional environment of the processes. The front ends of one data folder share a daemon. */
  get #environment() {
    const { environment: own, dataFolder } = this.#place;
    return { ...own, ASSENT_DAEMON_DIR: join(dataFolder, "daemon") };
  }

  async request<M extends keyof SidecarRequests>(
    method: M,
    params: SidecarRequests[M]["params"],
  ): Promise<SidecarRequests[M]["result"]> {
    return await this.#connected().sendRequest(method, params);
  }

  /** Changes the settings until the sidecar ends; the next one has those of the place again. */
  async configure(changes: Partial<Configuration>): Promise<void> {
    const configuration = { ...this.#place.configuration, ...changes };
    await this.#connected().sendNotification("workspace/didChangeConfiguration", configuration);
  }

  /** Calls a tool. Returns the id of the call's message. */
  async callTool(serverName: string, toolName: string, args: unknown): Promise<number> {
    return await this.startCall(serverName, { type: "tools/call", toolName, arguments: args });
  }

  /** Follows a listed MCP task of a server. Returns the id of the call's message. */
  async follow(serverName: string, mcpTaskId: string): Promise<number> {
    return await this.startCall(serverName, { type: "tasks/result", mcpTaskId });
  }

  /** Starts a call. Returns the id of its message. */
  async startCall(serverName: string, request: CallRequest): Promise<number> {
    const params = { taskId: this.#taskId, serverName, request };
    return (await this.request("call/start", params)).messageId;
  }

  async cancelCall(messageId: number): Promise<void> {
    await this.request("call/cancel", { taskId: this.#taskId, messageId });
  }

  /** Answers an ask. A yes keeps the defaults, and chooses the first option of other required fields. */
  async answer({ ask }: Shown, askResponse: AskResponse = "yesButtonClicked"): Promise<void> {
    const { askId, question } = ask;
    const content =
      question.type === "mcp_elicitation" && askResponse === "yesButtonClicked"
        ? { elicitationContent: fillIn(question.elicitationRequest.fields ?? []) }
        : {};
    await this.request("askResponse", { taskId: this.#taskId, askId, askResponse, ...content });
  }

  /** Takes a way out of an ask, with all that goes with it. */
  async respond(
    { ask }: Shown,
    params: Omit<AskResponseParams, "taskId" | "askId">,
  ): Promise<void> {
    await this.request("askResponse", { taskId: this.#taskId, askId: ask.askId, ...params });
  }

  /** Stops the model that answers an approved request. */
  async stopModel({ ask }: Shown, keep: boolean): Promise<void> {
    await this.request("sampling/stop", { taskId: this.#taskId, askId: ask.askId, keep });
  }

  /** Consents to the page of an ask, which the sidecar then opens. */
  async openPage({ ask }: Shown): Promise<void> {
    await this.request("ask/openUrl", { taskId: this.#taskId, askId: ask.askId });
  }

  call(messageId: number): Call {
    const body = this.#body(messageId);
    if (body?.type !== "call") throw new Error(`message ${messageId} is no call`);
    return body;
  }

  /** Returns the current state of an ask. */
  shown(messageId: number): Shown {
    const ask = this.#body(messageId);
    if (ask?.type !== "ask") throw new Error(`message ${messageId} is no ask`);
    return { messageId, ask };
  }

  /** The asks that came after a message, in their order. */
  asksSince(messageId: number): Shown[] {
    return this.messages.flatMap(({ id, body }) =>
      id > messageId && body.type === "ask" ? [{ messageId: id, ask: body }] : [],
    );
  }

  /** Waits until there is something to see; `what` names it. */
  async until<T>(what: string, look: () => T | undefined): Promise<T> {
    const signal = AbortSignal.timeout(waitLimit);
    for (;;) {
      if (this.#broken !== undefined) throw new Error(this.#broken);
      const seen = look();
      if (seen !== undefined) return seen;
      try {
        await once(this.#changes, "change", { signal });
      } catch {
        const seen = this.messages
          .slice(-5)
          .map((message) => JSON.stringify(message).slice(0, 2000));
        const log = (await this.#daemon("log")).trimEnd().split("\n").slice(-10);
        throw new Error([`${what} did not come:`, ...seen, ...log].join("\n"));
      }
    }
  }

  /** Waits for the end of a call. */
  async result(messageId: number): Promise<CallResult> {
    return await this.until(`the end of call ${messageId}`, () => this.call(messageId).result);
  }

  /** Waits until a call is an MCP task. */
  async begun(messageId: number): Promise<void> {
    await this.until("the MCP task", () => this.call(messageId).task);
  }

  /** Waits until a call's MCP task has shown a status and its message. It may have changed since. */
  async status(messageId: number, status: string): Promise<void> {
    await this.until(
      `the status "${status}"`,
      () => this.statuses.get(messageId)?.includes(status) || undefined,
    );
  }

  /** Waits for the nth ask after a message, settled or not. */
  async ask(messageId: number, nth: number): Promise<Shown> {
    return await this.until(`ask ${nth} after ${messageId}`, () => this.asksSince(messageId)[nth]);
  }

  /** Waits for an open ask of another workspace. */
  async othersAsk(): Promise<OpenAsk> {
    const [ask] = await this.othersAsks(1);
    if (ask === undefined) throw new Error("there is no ask of another workspace");
    return ask;
  }

  /** Waits until other workspaces have so many open asks. */
  async othersAsks(many: number): Promise<readonly OpenAsk[]> {
    for (;;) {
      const before = this.#othersChanged; // a report may overtake the list
      const { asks = [] } = await this.request("ask/list", undefined);
      const found = asks.filter(({ workspace }) => workspace !== undefined);
      if (found.length >= many) return found;
      await this.until(
        `${many} asks of other workspaces`,
        () => this.#othersChanged > before || undefined,
      );
    }
  }

  #forget(): void {
    this.#connection?.dispose();
    this.#connection = undefined;
    this.#process = undefined;
  }

  #connected(): MessageConnection {
    if (this.#connection === undefined) throw new Error("there is no sidecar");
    return this.#connection;
  }

  #body(messageId: number): Message["body"] | undefined {
    return this.messages.find(({ id }) => id === messageId)?.body;
  }

  #fold(event: Event): void {
    if (event.type === "callTaskChanged") {
      add(this.statuses, event.messageId, `${event.task.status}: ${event.task.statusMessage}`);
    }
    this.messages = foldEvent(this.messages, event);
    this.#changes.emit("change");
  }

  #foldPiece(piece: McpSamplingProgressParams): void {
    const messages = foldProgress(this.messages, piece);
    if (messages === "gap") this.#broken = "a piece of a completion is missing";
    else this.messages = messages;
    this.#changes.emit("change");
  }
}

function add(lists: Map<number, string[]>, key: number, value: string): void {
  lists.set(key, [...(lists.get(key) ?? []), value]);
}
