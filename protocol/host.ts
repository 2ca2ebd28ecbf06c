import type { AttachedFile } from "./protocol.ts";

/**
 * What the webview's host has to say besides the protocol. The host is the extension or, in a browser, the daemon
 * (sidecar/browser). It passes every message of the protocol on as it is, and answers `host/*` itself. The messages are
 * JSON-RPC, carried by postMessage or by a WebSocket. Written by hand.
 */

/** How the host's sidecar is doing. Only while it is running do requests of the protocol succeed. */
export type SidecarStatus =
  | { readonly state: "starting" }
  | { readonly state: "running" }
  /** It stopped by itself; the next start is due in `retryInMs` milliseconds. */
  | { readonly state: "restarting"; readonly retryInMs: number; readonly reason: string }
  /** It will not be started again until somebody asks for it. */
  | { readonly state: "failed"; readonly reason: string };

/** What the webview may ask of its host. */
export interface HostRequests {
  /** The webview is there and listens; the first request of every webview. */
  "host/ready": { params: undefined; result: HostReadyResult };
  /** Start the sidecar again, now. */
  "host/restartSidecar": { params: undefined; result: null };
  /** Open a configuration file; without a place, the one where a first server would go. */
  "host/openConfiguration": { params: SourcePosition; result: null };
  /**
   * Let the person copy servers that other programs have configured; ends when they have, or have not.
   * Served where {@link HostReadyResult.imports} says so.
   */
  "host/importServers": { params: undefined; result: null };
  /** Add the example server to the sidecar's configuration, or remove it. Once answered, the sidecar has heard of it. */
  "host/setExampleServer": { params: SetExampleServerParams; result: null };
  /** Let the person choose among the models that there are, or set one up. Served where {@link HostReadyResult.setsUp}. */
  "host/chooseModel": { params: undefined; result: null };
  /** Let the person give the key of a model's endpoint. Served where {@link HostReadyResult.setsUp}. */
  "host/setModelApiKey": { params: undefined; result: null };
  /** Open the walkthrough. Served where {@link HostReadyResult.setsUp}. */
  "host/openWalkthrough": { params: undefined; result: null };
  /** Show a text in an editor. */
  "host/openText": { params: OpenTextParams; result: OpenTextResult };
  /** Let the person choose files to attach. Served where {@link HostReadyResult.picksFiles} says so. */
  "host/pickFiles": { params: undefined; result: PickFilesResult };
  /**
   * Read a file that was dragged from VS Code, to attach it. Refused, with a sentence, for what is not a file of the
   * workspace. Served where {@link HostReadyResult.picksFiles} says so.
   */
  "host/readFile": { params: ReadFileParams; result: PickedFile };
  /** Keep a file of a message that is not sent yet, on disk. The oldest ones go where there are too many. */
  "host/keepFile": { params: AttachedFile; result: KeepFileResult };
  /** Bring back a file that was kept, in this life of the page or an earlier one. */
  "host/keptFile": { params: KeptFileParams; result: KeptFileResult };
  /** Forget files that were kept. */
  "host/forgetFiles": { params: ForgetFilesParams; result: null };
  /** Show the sidecar's log. */
  "host/showLog": { params: undefined; result: null };
  /**
   * The page has the keyboard now, or has it no more: what the host binds keys by, where it has keys to
   * bind. VS Code itself knows only which view had it last.
   */
  "host/focus": { params: FocusParams; result: null };
  /**
   * Keep what the page remembers of itself for its next life, from now on: what a webview has VS Code keep is
   * written down only seconds later. In VS Code only; a browser keeps its own at once.
   */
  "host/keepView": { params: ViewOfPanel; result: null };
  /** One of the {@link PagesToOpen} was opened by the person, or put away. */
  "host/pageDone": { params: PageDoneParams; result: null };
}

/** A place in a configuration file, or in the settings. Lines and columns count from 1. */
export interface SourcePosition {
  /** A path, or "settings"; absent for the default file. */
  readonly source?: string;
  /** The name of one of the settings. */
  readonly setting?: string;
  readonly line?: number;
  readonly column?: number;
}

/**
 * A page that the sidecar wants opened, where the host cannot open one itself: a browser opens only
 * what the person clicks.
 */
export interface PageToOpen {
  readonly id: number;
  /** Is http or https, and has no characters but those of a URL. */
  readonly url: string;
  /** Who wants the page opened, and what for; a sentence. */
  readonly reason: string;
}

/** Every page that waits, the one asked for first first. */
export interface PagesToOpen {
  readonly pages: readonly PageToOpen[];
}

/** Whether the sidecar's configuration has the example server. */
export interface SetExampleServerParams {
  readonly added: boolean;
}

/** Whether the page has the keyboard. */
export interface FocusParams {
  readonly focused: boolean;
}

/** What a page remembers of itself. It comes back as the page's `data-view`. */
export interface ViewOfPanel {
  /** An object of JSON, of the page's own making. */
  readonly view: unknown;
}

/** What became of a page. */
export interface PageDoneParams {
  readonly id: number;
  readonly opened: boolean;
}

/** Where the webview finds itself. */
export interface HostReadyResult {
  readonly status: SidecarStatus;
  /** What the person could say first in a new task. Absent if the host has no proposals of its own. */
  readonly prompts?: readonly string[];
  /** What the host wanted to show before the webview was ready. */
  readonly reveal?: Reveal;
  /** The host serves `host/importServers`. */
  readonly imports?: boolean;
  /** The host serves `host/chooseModel`, `host/setModelApiKey` and `host/openWalkthrough`. */
  readonly setsUp?: boolean;
  /**
   * The host serves `host/pickFiles` and `host/readFile`; where it does not, the page has a control of its own, and
   * takes no files of VS Code.
   */
  readonly picksFiles?: boolean;
  /** Absent where there are none. */
  readonly pages?: readonly PageToOpen[];
}

/** The files that the person chose; none where they chose nothing. */
export interface PickFilesResult {
  readonly files: readonly PickedFile[];
}

/** A file by its URI, as VS Code gives it to what it is dropped on. */
export interface ReadFileParams {
  readonly uri: string;
}

/** The name of a kept file, which its host made. */
export interface KeepFileResult {
  readonly id: string;
}

export interface KeptFileParams {
  readonly id: string;
}

/** The kept content; absent if it was removed. */
export interface KeptFileResult {
  readonly file?: AttachedFile;
}

export interface ForgetFilesParams {
  readonly ids: readonly string[];
}

/** What there is to attach. */
export interface PickedFile {
  /** Without its folders. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The content in base64; absent if it has more than 4 MiB. */
  readonly data?: string;
}

/** A text for the person to read, and to keep where they want to. */
export interface OpenTextParams {
  readonly title: string;
  /** In Markdown. */
  readonly text: string;
}

/** Says whether the host has a place for texts; where it has none, the webview offers a file. */
export interface OpenTextResult {
  readonly opened: boolean;
}

/** What the host tells the webview. */
export interface HostNotifications {
  "host/sidecarStatus": SidecarStatus;
  "host/reveal": Reveal;
  "host/pages": PagesToOpen;
}

/** Something that the webview should bring into view. */
export type Reveal =
  /** The oldest open ask. */
  | { readonly kind: "ask" }
  /** The open asks of every task. */
  | { readonly kind: "openAsks" }
  /** The open ask after the one that the person is at, of all tasks', or the one before it. */
  | { readonly kind: "nextAsk" | "previousAsk" }
  | { readonly kind: "newTask" }
  /** The first question of the example server, which is added for it. */
  | { readonly kind: "exampleServer" }
  /** A text for the person to go on with, after what they have typed already. Nothing is sent. */
  | { readonly kind: "draft"; readonly text: string }
  /** A task, at its end. */
  | { readonly kind: "task"; readonly taskId: string }
  /** A message of a task. */
  | { readonly kind: "message"; readonly taskId: string; readonly messageId: number }
  /** The MCP tasks of every task. */
  | { readonly kind: "mcpTasks" }
  /** What answers in the person's name, with the focus on one grant where it is named. */
  | { readonly kind: "policy"; readonly grantId?: string }
  /** The servers, or one of them. */
  | { readonly kind: "servers"; readonly serverName?: string }
  /** The tool runner, with a server chosen where one is named. */
  | { readonly kind: "toolRunner"; readonly serverName?: string };

/** The webview's host. */
export interface Host {
  requests: HostRequests;
  notifications: HostNotifications;
}
