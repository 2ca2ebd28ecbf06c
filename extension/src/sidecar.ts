import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import {
  closeTimeoutMs,
  ErrorCode,
  exitEnded,
  type FrontEndRequests,
  type InitializeParams,
  type InitializeResult,
  protocolVersion,
  type SidecarNotifications,
  type SidecarRequests,
} from "@assent/protocol";
import type { SidecarStatus } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import {
  CancellationToken,
  ConnectionError,
  createMessageConnection,
  ErrorCodes,
  type MessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { type Handlers, handlerOf } from "./handlers.ts";
import { parse } from "./log.ts";

/** How to start a sidecar, and who handles its requests, its notifications and its log. */
export interface SidecarOptions {
  readonly command: string;
  /** Returns the arguments for a start. With `update`, an older daemon ends. */
  args(update: boolean): readonly string[];
  /** Returns the handshake's params. Called at every start, so that they are current after a crash. */
  initializeParams(): Promise<InitializeParams>;
  /** Receives a line that the sidecar wrote to stderr. */
  log(line: string): void;
  /**
   * Asks whether to end the older daemon now; otherwise it is updated when nothing is open. Gets a sentence on what is
   * open, and the daemon's process id if that daemon serves the sidecar. Called at most once at a time, and not again
   * after an answer. The signal is aborted when the question no longer applies.
   */
  update?(why: string, pid: number | undefined, over: AbortSignal): Promise<boolean>;
  /** Reports that the daemon's process does not answer. The signal is aborted when it answers again or has ended. */
  hangs?(pid: number, over: AbortSignal): Promise<void>;
  /** Handle the sidecar's requests. An error that a handler throws becomes the answer. */
  readonly handlers: Handlers<FrontEndRequests>;
  readonly timing?: Partial<Timing>;
}

/** Timeouts and pauses, in milliseconds. */
export interface Timing {
  /** The pause after a first crash; each further crash doubles it. */
  readonly firstPause: number;
  readonly longestPause: number;
  /** After this running time, earlier crashes no longer count. */
  readonly steady: number;
  /** Timeout of the handshake's answer. */
  readonly handshake: number;
  /** Timeout of the process's end after its stdin was closed. */
  readonly closeTimeout: number;
}

const defaultTiming: Timing = {
  firstPause: 250,
  longestPause: 30_000,
  steady: 60_000,
  handshake: 30_000,
  closeTimeout: closeTimeoutMs,
};

/** How one process ended. If the end is final, another start would end the same way. */
interface End {
  /** A sentence about "it". It follows a sentence that names Assent. */
  readonly reason: string;
  readonly final: boolean;
  /** The daemon ended first. Another start creates another daemon. */
  readonly daemonEnded?: boolean;
}

type StatusListener = (status: SidecarStatus) => void;
type NotificationListener = (method: string, params: unknown) => void;

/**
 * The sidecar's process and the connection to it. The process relays to the daemon, or is one itself. It is restarted
 * when it ends by itself: at once if the daemon ended, and otherwise after growing pauses. It is not restarted if that
 * cannot help. Does not need VS Code.
 */
export class Sidecar {
  readonly #options: SidecarOptions;
  readonly #timing: Timing;
  readonly #statusListeners = new Set<StatusListener>();
  readonly #notificationListeners = new Set<NotificationListener>();
  #status: SidecarStatus = { state: "starting" };
  /** Set while the handshake is done and the process runs. */
  #connection: MessageConnection | undefined;
  /** Aborted to end the current process, or the pause between two. */
  #interrupt = new AbortController();
  readonly #stopping = new AbortController();
  #update: "unasked" | "asked" | "wanted" = "unasked";
  #supervision: Promise<void> | undefined;

  constructor(options: SidecarOptions) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
  }

  get status(): SidecarStatus {
    return this.#status;
  }

  /** Calls back at every change of the status, until the returned function is called. */
  onStatus(listener: StatusListener): () => void {
    this.#statusListeners.add(listener);
    return () => this.#statusListeners.delete(listener);
  }

  /** Calls back with every notification of the sidecar, until the returned function is called. */
  onNotification(listener: NotificationListener): () => void {
    this.#notificationListeners.add(listener);
    return () => this.#notificationListeners.delete(listener);
  }

  /** Starts the process and keeps it running. Further calls do nothing. */
  start(): void {
    this.#supervision ??= this.#supervise();
  }

  /** Ends the current process, if there is one, and starts another without a pause. */
  restart(): void {
    this.#interrupt.abort();
  }

  /** Ends the process for good; resolves when it is gone. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#interrupt.abort();
    await this.#supervision;
  }

  async request<M extends keyof SidecarRequests>(
    method: M,
    params: SidecarRequests[M]["params"],
  ): Promise<SidecarRequests[M]["result"]> {
    return (await this.forward(method, params)) as SidecarRequests[M]["result"];
  }

  /** Sends a notification. Does nothing while the sidecar is not running. */
  notify<M extends keyof SidecarNotifications>(method: M, params: SidecarNotifications[M]): void {
    this.forwardNotification(method, params);
  }

  /** Passes a request on unchanged. Rejects with `Unavailable` if there is no connection. */
  async forward(
    method: string,
    params: unknown,
    token: CancellationToken = CancellationToken.None,
  ): Promise<unknown> {
    const connection = this.#connection;
    if (connection === undefined) throw unavailable(whyUnavailable(this.#status));
    try {
      // vscode-jsonrpc sends `undefined` params as `[null]`.
      return await (params === undefined
        ? connection.sendRequest(method, token)
        : connection.sendRequest(method, params, token));
    } catch (error) {
      if (connection === this.#connection && !isDisconnection(error)) throw error;
      throw unavailable(l10n.t("Assent stopped before it answered."));
    }
  }

  /** Passes a notification on unchanged, or drops it while the sidecar is not running. */
  forwardNotification(method: string, params: unknown): void {
    const args = params === undefined ? [] : [params];
    this.#connection?.sendNotification(method, ...args).catch(() => {
      // The pipe is broken: the process is ending, and its end is reported separately.
    });
  }

  async #supervise(): Promise<void> {
    let pause = this.#timing.firstPause;
    while (!this.#stopping.signal.aborted) {
      this.#interrupt = new AbortController();
      const { signal } = this.#interrupt;
      this.#setStatus({ state: "starting" });
      const startedAt = Date.now();
      const end = await this.#run(signal);
      if (Date.now() - startedAt >= this.#timing.steady) pause = this.#timing.firstPause;
      if (!signal.aborted && end.final) {
        this.#setStatus({ state: "failed", reason: end.reason });
        await aborted(signal);
      } else if (!signal.aborted) {
        // The daemon restores the workspace. A daemon that ends repeatedly gets pauses, too.
        if (end.daemonEnded !== true || pause > this.#timing.firstPause) {
          this.#setStatus({ state: "restarting", retryInMs: pause, reason: end.reason });
          await unlessAborted(sleep(pause, undefined, { signal }));
        }
        pause = Math.min(pause * 2, this.#timing.longestPause);
      }
      if (signal.aborted) pause = this.#timing.firstPause;
    }
  }

  /** Runs one process from its start to its end. */
  async #run(signal: AbortSignal): Promise<End> {
    const { command } = this.#options;
    // Its own process group protects it from a terminal's Ctrl-C. Closing its stdin ends it.
    const update = this.#update === "wanted";
    if (update) this.#update = "unasked";
    const child = spawn(command, this.#options.args(update), {
      stdio: "pipe",
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    /** The message of the last error that it logged. */
    let said: string | undefined;
    const ended = new Promise<End>((resolve) => {
      child.once("error", (error) => {
        const reason = l10n.t(
          "It cannot be started: {0}. Try reinstalling the extension.",
          error.message,
        );
        if (child.pid === undefined) resolve({ reason, final: true });
      });
      child.once("close", (code, killedBy) => {
        const status =
          killedBy === null
            ? l10n.t("It ended with exit code {0}.", String(code))
            : l10n.t("It was killed by {0}.", killedBy);
        const reason = said === undefined ? status : l10n.t("It ended: {0}.", said);
        resolve({ reason, final: false, daemonEnded: code === exitEnded });
      });
    });
    if (child.pid === undefined) return await ended;

    let verdict: End | undefined;
    const finish = (end?: End): void => {
      verdict ??= end;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.stdin.end();
      const force = setTimeout(() => child.kill("SIGKILL"), this.#timing.closeTimeout);
      child.once("close", () => clearTimeout(force));
    };
    signal.addEventListener("abort", () => finish(), { once: true });
    /** Aborted when the relay's reports about its daemon no longer apply. */
    const ending = new AbortController();
    let answers = new AbortController();
    child.once("close", () => {
      ending.abort();
      answers.abort();
    });
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.#options.log(line);
      const { level, error, code, open, pid } = parse(line) ?? {};
      if (level === "error" && typeof error === "string") said = error;
      if (code === "older" && typeof open === "string" && typeof pid === "number") {
        void this.#askToUpdate(open, pid, ending.signal);
      } else if (code === "busy" && typeof error === "string") {
        void this.#askToUpdate(error, undefined, this.#stopping.signal); // the next one ends for the same reason
      } else if (code === "hangs" && typeof pid === "number") {
        answers = new AbortController();
        void this.#options.hangs?.(pid, answers.signal);
      } else if (code === "answers") {
        answers.abort();
      }
    });
    const reader = new StreamMessageReader(child.stdout);
    reader.onError((error) => {
      finish({
        reason: l10n.t("It wrote invalid output: {0}", error.message),
        final: false,
      });
    });
    const connection = createMessageConnection(reader, new StreamMessageWriter(child.stdin));
    // The process is ending, so lost messages do not matter.
    connection.onError(() => finish());
    connection.onRequest((method, params, token) => {
      const handle = handlerOf(this.#options.handlers, method);
      if (handle !== undefined) return handle(params, token);
      throw new ResponseError(
        ErrorCode.MethodNotFound,
        l10n.t("VS Code does not support {0}.", method),
      );
    });
    connection.onNotification((method, params) => {
      for (const listener of this.#notificationListeners) listener(method, params);
    });
    connection.listen();

    // The end of the process explains the failure better than the broken pipe.
    const shaken = this.#shakeHands(connection).catch(() => {
      finish();
      return ended;
    });
    const refusal = await Promise.race([shaken, ended]);
    if (refusal !== undefined) {
      finish(refusal);
    } else if (!signal.aborted && verdict === undefined) {
      this.#connection = connection;
      this.#setStatus({ state: "running" });
    }
    const end = await ended;
    this.#connection = undefined;
    connection.dispose();
    return verdict ?? end;
  }

  async #askToUpdate(why: string, pid: number | undefined, over: AbortSignal): Promise<void> {
    if (this.#update !== "unasked" || this.#options.update === undefined) return;
    this.#update = "asked";
    const wanted = await this.#options.update(why, pid, over);
    if (over.aborted) this.#update = "unasked";
    if (!wanted || over.aborted) return;
    this.#update = "wanted";
    this.restart();
  }

  /** Does the handshake. Returns why the two cannot work together, or undefined. Rejects if the connection broke. */
  async #shakeHands(connection: MessageConnection): Promise<End | undefined> {
    const answered = new AbortController();
    try {
      const params = await this.#options.initializeParams();
      const result = await Promise.race([
        connection.sendRequest<InitializeResult>("initialize", params),
        unlessAborted(sleep(this.#timing.handshake, undefined, { signal: answered.signal })),
      ]);
      if (result === undefined) {
        return { reason: l10n.t("It did not answer the first request."), final: false };
      }
      if (result.protocolVersion === protocolVersion) return undefined;
      const reason = l10n.t(
        "Its protocol version is {0}, but the extension's is {1}. Reinstall the extension.",
        result.protocolVersion,
        protocolVersion,
      );
      return { reason, final: true };
    } catch (error) {
      if (isDisconnection(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      // A refusal is final: the sidecar would refuse the same params again.
      return { reason, final: error instanceof ResponseError };
    } finally {
      answered.abort();
    }
  }

  #setStatus(status: SidecarStatus): void {
    this.#status = status;
    for (const listener of this.#statusListeners) listener(status);
  }
}

function unavailable(reason: string): ResponseError<void> {
  return new ResponseError(ErrorCode.Unavailable, reason);
}

/** Reports whether an error is vscode-jsonrpc's own: the request or its answer was not transmitted. */
function isDisconnection(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  const own: readonly number[] = [ErrorCodes.MessageWriteError, ErrorCodes.PendingResponseRejected];
  return error instanceof ResponseError && own.includes(error.code);
}

function whyUnavailable(status: SidecarStatus): string {
  switch (status.state) {
    case "starting":
    case "running":
      return l10n.t("Assent is starting. Try again in a moment.");
    case "restarting":
      return l10n.t("Assent stopped: {0} It restarts in a moment.", status.reason);
    case "failed":
      return l10n.t("Assent is not running. {0}", status.reason);
    default:
      return status satisfies never;
  }
}

/** Resolves when the signal is aborted. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

/** Waits for a pause. An abort ends it early. */
async function unlessAborted(pause: Promise<unknown>): Promise<undefined> {
  try {
    await pause;
  } catch {}
  return undefined;
}
