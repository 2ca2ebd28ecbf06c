import { randomBytes } from "node:crypto";
import type { HostRequests, Reveal } from "@assent/protocol/host";
import * as vscode from "vscode";
import { type Channel, openChannel } from "./channel.ts";
import { mapsFrames } from "./frameUrl.ts";
import type { Handlers } from "./handlers.ts";
import type { KeptView } from "./keptView.ts";
import { page } from "./page.ts";
import type { Relay } from "./relay.ts";
import type { Sidecar } from "./sidecar.ts";
import { inWords } from "./statusWords.ts";

/** The page's requests that the panel does not handle itself. */
export type HostHandlers = Omit<
  Handlers<HostRequests>,
  "host/ready" | "host/focus" | "host/keepView"
>;

/**
 * The panel in the side bar. Its page is destroyed when the panel is hidden and created again when it is shown. Nothing
 * is lost, because the page owns no state.
 */
export class Panel implements vscode.WebviewViewProvider {
  static readonly id = "assent.panel";

  readonly #dist: vscode.Uri;
  readonly #sidecar: Sidecar;
  readonly #relay: Relay;
  readonly #kept: KeptView;
  readonly #handlers: Handlers<HostRequests>;
  #view: vscode.WebviewView | undefined;
  /** The connection to a page that is ready. */
  #channel: Channel | undefined;
  #reveal: Reveal | undefined;
  #openAsks = 0;

  /** `handlers` has all requests of the host except those that only the panel can handle. */
  constructor(
    extension: vscode.Uri,
    sidecar: Sidecar,
    relay: Relay,
    kept: KeptView,
    handlers: HostHandlers,
  ) {
    this.#dist = vscode.Uri.joinPath(extension, "dist", "webview");
    this.#sidecar = sidecar;
    this.#relay = relay;
    this.#kept = kept;
    this.#handlers = handlers;
  }

  get visible(): boolean {
    return this.#view?.visible ?? false;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { webview } = view;
    this.#sidecar.start();
    this.#view = view;
    this.#showBadge();
    view.onDidChangeVisibility(() => {
      if (!view.visible) this.#close();
    });
    view.onDidDispose(() => {
      this.#close();
      this.#view = undefined;
    });
    webview.onDidReceiveMessage((message: unknown) => {
      if (isReady(message)) this.#open(webview);
      this.#channel?.receive(message);
    });
    webview.options = { enableScripts: true, localResourceRoots: [this.#dist] };
    const texts = vscode.l10n.bundle;
    webview.html = page({
      base: webview.asWebviewUri(this.#dist).toString(),
      source: webview.cspSource,
      nonce: randomBytes(16).toString("base64url"),
      ...(texts !== undefined && { translation: { language: vscode.env.language, texts } }),
      view: this.#kept.get(),
    });
  }

  /** Shows the panel, and reveals something in it. With `preserveFocus`, the person can go on typing elsewhere. */
  async reveal(reveal: Reveal, preserveFocus = false): Promise<void> {
    if (this.visible && this.#channel !== undefined) {
      this.#relay.tell("host/reveal", reveal);
    } else {
      this.#reveal = reveal;
    }
    await vscode.commands.executeCommand(`${Panel.id}.focus`, { preserveFocus });
  }

  /** Sets the number of open asks on the badge. */
  setOpenAsks(count: number): void {
    this.#openAsks = count;
    this.#showBadge();
  }

  dispose(): void {
    this.#close();
  }

  #showBadge(): void {
    if (this.#view === undefined) return;
    const count = this.#openAsks;
    this.#view.badge = count === 0 ? undefined : { value: count, tooltip: inWords(count) };
  }

  /** A page reports ready once, so any earlier page has gone. */
  #open(webview: vscode.Webview): void {
    this.#close();
    this.#channel = openChannel((message) => void webview.postMessage(message));
    this.#relay.attach(this.#channel.connection, {
      ...this.#handlers,
      "host/keepView": (params) => this.#kept.keep(params),
      "host/focus": ({ focused }) => {
        setFocused(focused);
        return null;
      },
      "host/ready": () => {
        const reveal = this.#reveal;
        this.#reveal = undefined;
        const { status } = this.#sidecar;
        return {
          status,
          imports: true,
          picksFiles: true,
          setsUp: true,
          ...(mapsFrames() && { mapsFrames: true }),
          ...(reveal !== undefined && { reveal }),
        };
      },
    });
  }

  #close(): void {
    setFocused(false);
    this.#channel?.connection.dispose();
    this.#channel = undefined;
  }
}

/** Keybindings of the panel have this in their `when`. */
function setFocused(focused: boolean): void {
  void vscode.commands.executeCommand("setContext", "assent.panelFocus", focused);
}

function isReady(message: unknown): boolean {
  return (
    typeof message === "object" &&
    message !== null &&
    "method" in message &&
    message.method === "host/ready"
  );
}
