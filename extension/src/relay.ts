import { ErrorCode } from "@assent/protocol";
import type { HostNotifications, HostRequests } from "@assent/protocol/host";
import { type MessageConnection, ResponseError } from "vscode-jsonrpc/node";
import { type Handlers, handlerOf } from "./handlers.ts";
import type { Sidecar } from "./sidecar.ts";

/**
 * What the host alone may say to the sidecar. A webview shows what strangers wrote; it must not be
 * the one that says which programs to start, or that reads other programs' configuration.
 */
const reserved: ReadonlySet<string> = new Set([
  "initialize",
  "workspace/didChangeConfiguration",
  "languageModel/progress",
  "import/find",
  "import/apply",
]);

/**
 * Joins webviews with one sidecar. Every message of the protocol is passed on as it is; the
 * sidecar's notifications go to all webviews, and `host/*` is the host's own. A request that was
 * passed on stays under way when its webview goes away: it may carry an answer that a person gave.
 */
export class Relay {
  readonly #sidecar: Sidecar;
  readonly #webviews = new Set<MessageConnection>();

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
    sidecar.onNotification((method, params) => this.#tellAll(method, params));
    sidecar.onStatus((status) => this.#tellAll("host/sidecarStatus", status));
  }

  /** Takes a webview in and starts to listen to it. It leaves when its connection is disposed. */
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

  /** Tells every webview something that only a host can say. */
  tell<M extends keyof HostNotifications>(method: M, params: HostNotifications[M]): void {
    this.#tellAll(method, params);
  }

  #tellAll(method: string, params: unknown): void {
    const args = params === undefined ? [] : [params];
    for (const webview of this.#webviews) {
      webview.sendNotification(method, ...args).catch(() => {
        // The webview has just gone; there is nobody to tell.
      });
    }
  }
}
