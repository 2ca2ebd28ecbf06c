import { ErrorCode, type FrontEndNotifications, type SidecarRequests } from "@assent/protocol";
import type { HostNotifications, HostRequests } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import {
  CancellationTokenSource,
  createMessageConnection,
  type Disposable,
  ErrorCodes,
  type MessageReader,
  type MessageWriter,
  ParameterStructures,
  ResponseError,
} from "vscode-jsonrpc/browser";

/** What the webview may ask: the sidecar, through its host, or the host itself. */
export type Requests = SidecarRequests & HostRequests;

/** What the webview is told. */
export type Notifications = FrontEndNotifications & HostNotifications;

/** The two ends of one link to the host. They live and die together. */
export interface Channel {
  readonly reader: MessageReader;
  readonly writer: MessageWriter;
}

export interface RequestOptions {
  /** Gives the request up: the other side is told, and the promise rejects. */
  readonly signal?: AbortSignal;
}

type Arguments<P> = undefined extends P
  ? [params?: undefined, options?: RequestOptions]
  : [params: P, options?: RequestOptions];

/** A refused or lost request. The message is a sentence for the person. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The protocol, typed, over one channel. */
export interface Client {
  /** Rejects with an {@link RpcError}, and with nothing else. */
  request<M extends keyof Requests>(
    method: M,
    ...args: Arguments<Requests[M]["params"]>
  ): Promise<Requests[M]["result"]>;
  onNotification<M extends keyof Notifications>(
    method: M,
    handler: (params: Notifications[M]) => void,
  ): Disposable;
  /** Ends the client: what is still asked fails as unavailable. */
  dispose(): void;
}

/** Starts a client that reads its channel from now on. */
export function createClient({ reader, writer }: Channel): Client {
  // The library reports what a handler threw to its logger. It is a defect of ours, so it goes where
  // defects go.
  const defect = (message: string) => reportError(new Error(message));
  const logger = { error: defect, warn: defect, info: () => {}, log: () => {} };
  const connection = createMessageConnection(reader, writer, logger);
  connection.listen();

  return {
    async request(method, ...args) {
      const [params, options] = args;
      const cancellation = new CancellationTokenSource();
      const cancel = () => cancellation.cancel();
      options?.signal?.addEventListener("abort", cancel);
      try {
        if (options?.signal?.aborted) cancel();
        return params === undefined
          ? await connection.sendRequest(method, cancellation.token)
          : await connection.sendRequest(
              method,
              ParameterStructures.byName,
              params,
              cancellation.token,
            );
      } catch (error) {
        throw asRpcError(error);
      } finally {
        options?.signal?.removeEventListener("abort", cancel);
      }
    },
    onNotification: (method, handler) => connection.onNotification(method, handler),
    dispose: () => connection.dispose(),
  };
}

/** Only what the other side said keeps its words; the library's own errors all mean a lost link. */
function asRpcError(error: unknown): RpcError {
  const lost =
    !(error instanceof ResponseError) ||
    error.code === ErrorCodes.PendingResponseRejected ||
    error.code === ErrorCodes.MessageWriteError;
  return lost
    ? new RpcError(ErrorCode.Unavailable, l10n.t("The connection was lost before an answer came."))
    : new RpcError(error.code, error.message, error.data);
}

/** Returns an error's message, a sentence for the person where the error is an {@link RpcError}. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of a refused request; undefined for any other error. */
export function codeOf(error: unknown): number | undefined {
  return error instanceof RpcError ? error.code : undefined;
}
