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

/** The requests of the webview to the sidecar, through its host, and to the host. */
export type Requests = SidecarRequests & HostRequests;

/** The notifications to the webview. */
export type Notifications = FrontEndNotifications & HostNotifications;

/** The two ends of one connection to the host. They end together. */
export interface Channel {
  readonly reader: MessageReader;
  readonly writer: MessageWriter;
}

export interface RequestOptions {
  /** Cancels the request: the peer is notified, and the promise rejects. */
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
  /** Rejects only with an {@link RpcError}. */
  request<M extends keyof Requests>(
    method: M,
    ...args: Arguments<Requests[M]["params"]>
  ): Promise<Requests[M]["result"]>;
  onNotification<M extends keyof Notifications>(
    method: M,
    handler: (params: Notifications[M]) => void,
  ): Disposable;
  /** Ends the client. Pending requests fail as unavailable. */
  dispose(): void;
}

/** Starts a client that reads from its channel. */
export function createClient({ reader, writer }: Channel): Client {
  // The library logs errors that handlers throw. They are defects, so they are reported as such.
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

/** Only the peer's errors keep their message. The library's own errors all mean a lost connection. */
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
