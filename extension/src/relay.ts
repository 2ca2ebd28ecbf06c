import { ErrorCode } from "@assent/protocol";
import type { HostNotifications, HostRequests } from "@assent/protocol/host";
import { type MessageConnection, ResponseError } from "vscode-jsonrpc/node";
import { type Handlers, handlerOf } from "./handlers.ts";
import type { Sidecar } from "./sidecar.ts";

/**
 * The methods that only the host may send to the sidecar. A webview shows foreign texts, so it must not say which
 * programs to start or read other programs' configuration.
 */
const reserved: ReadonlySet<string> = new Set([
  "initialize",
  "workspace/didChangeConfiguration",
  "languageModel/progress",
  "import/find",
  "import/apply",
]);

/**
 * Joins webviews with one sidecar. It passes every message of the protocol on unchanged. The sidecar's notifications go
 * to all webviews, and the host handles `host/*` itself. A request continues after its webview has gone, because it may
 * carry a person's answer.
 */
export class Relay {
  readonly #sidecar: Sidecar;
  readonly #webviews = new Set<MessageConnection>();

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
    sidecar.onNotification((method, params) => this.#tellAll(method, params));
    sidecar.onStatus((status) => this.#tellAll("host/sidecarStatus", status));
  }

  /** Adds a webview and starts to listen to it. Disposing its connection removes it. */
  attach(webview: MessageConnection, host: Handlers<HostRequests>): void {
    webview.onRequest((method, params, token) => {
      const handle = handlerOf(host, method);
      if (handle !== undefined) return handle(params, token);
      if (reserved.has(method)) {
        const reason = `${method} is not for a webview to ask.`;
        throw new ResponseError(ErrorCode.InvalidRequest, reason);
      }
      return this.#sidecar.forward(method, params, token);
    });
    webview.onNotification((method, params) => {
      if (!reserved.has(method)) this.#sidecar.forwardNotification(method, params);
    });
    const leave = (): void => {
      this.#webviews.delete(webview);
    };
    webview.onClose(leave);
    webview.onDispose(leave);
    this.#webviews.add(webview);
    webview.listen();
  }

  /** Sends a notification of the host to every webview. */
  tell<M extends keyof HostNotifications>(method: M, params: HostNotifications[M]): void {
    this.#tellAll(method, params);
  }

  #tellAll(method: string, params: unknown): void {
    const args = params === undefined ? [] : [params];
    for (const webview of this.#webviews) {
      webview.sendNotification(method, ...args).catch(() => {
        // The webview has gone in the meantime.
      });
    }
  }
}
