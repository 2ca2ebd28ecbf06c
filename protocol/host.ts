import type { AttachedFile, ConfirmServerParams, ConfirmServerResult } from "./protocol.ts";

/**
 * The messages between the webview and its host, besides the protocol. The host is the extension or, in a browser, the
 * daemon (sidecar/browser). It passes every message of the protocol on unchanged, and answers `host/*` itself. The
 * messages are JSON-RPC over postMessage or a WebSocket. Written by hand.
 */

/** The state of the host's sidecar. Requests of the protocol succeed only while it is running. */
export type SidecarStatus =
  | { readonly state: "starting" }
  | { readonly state: "running" }
  /** It stopped by itself. The next start is in `retryInMs` milliseconds. */
  | { readonly state: "restarting"; readonly retryInMs: number; readonly reason: string }
  /** It starts again only on request. */
  | { readonly state: "failed"; readonly reason: string };

/** The requests of the webview to its host. */
export interface HostRequests {
  /** The webview is ready; the first request of every webview. */
  "host/ready": { params: undefined; result: HostReadyResult };
  /** Restart the sidecar now. */
  "host/restartSidecar": { params: undefined; result: null };
  /** Open a configuration file at a place; without one, the file for a first server. */
  "host/openConfiguration": { params: SourcePosition; result: null };
  /**
   * Let the person copy servers of other programs. Answers when they are done or have cancelled. Served if {@link
   * HostReadyResult.imports} is set.
   */
  "host/importServers": { params: undefined; result: null };
  /** Add the example server to the sidecar's configuration, or remove it. Answers when the sidecar has the change. */
  "host/setExampleServer": { params: SetExampleServerParams; result: null };
  /** Let the person choose a model or set one up. Served if {@link HostReadyResult.setsUp} is set. */
  "host/chooseModel": { params: undefined; result: null };
  /** Let the person type the key of a model's endpoint. Served if {@link HostReadyResult.setsUp} is set. */
  "host/setModelApiKey": { params: undefined; result: null };
  /** Open the walkthrough. Served if {@link HostReadyResult.setsUp} is set. */
  "host/openWalkthrough": { params: undefined; result: null };
  /**
   * Let the person have the program where other programs find it, if it is not there. Served if {@link
   * HostReadyResult.setsUp} is set.
   */
  "host/addProgram": { params: undefined; result: AddProgramResult };
  /** Show a text in an editor. */
  "host/openText": { params: OpenTextParams; result: OpenTextResult };
  /** Let the person choose files to attach. Served if {@link HostReadyResult.picksFiles} is set. */
  "host/pickFiles": { params: undefined; result: PickFilesResult };
  /**
   * Read a file that was dragged from VS Code, to attach it. Fails with a sentence if it is not a file of the
   * workspace. Served if {@link HostReadyResult.picksFiles} is set.
   */
  "host/readFile": { params: ReadFileParams; result: PickedFile };
  /** Store an attachment of an unsent message on disk. If there are too many, the oldest ones are removed. */
  "host/keepFile": { params: AttachedFile; result: KeepFileResult };
  /** Read a stored file of this page or an earlier one. */
  "host/keptFile": { params: KeptFileParams; result: KeptFileResult };
  /** Remove stored files. */
  "host/forgetFiles": { params: ForgetFilesParams; result: null };
  /** Show the sidecar's log. */
  "host/showLog": { params: undefined; result: null };
  /**
   * Report whether the page has the keyboard focus. Hosts with keybindings use it in their conditions. VS Code itself
   * knows only which view had the focus last.
   */
  "host/focus": { params: FocusParams; result: null };
  /**
   * Store the page's state for its next life, replacing the earlier one. A webview's own state would be written only
   * seconds later. In VS Code only; a browser stores its own state at once.
   */
  "host/keepView": { params: ViewOfPanel; result: null };
  /**
   * Find the address of an app's frame for the person's own machine. Served if {@link HostReadyResult.mapsFrames} is
   * set.
   */
  "host/frameUrl": { params: FrameUrlParams; result: FrameUrlResult };
  /** The person opened or dismissed one of the {@link PagesToOpen}. */
  "host/pageDone": { params: PageDoneParams; result: null };
  /** The person decided about one of the {@link ServersToConfirm}. Fails if it is not open any more. */
  "host/confirmed": { params: ConfirmedParams; result: null };
}

/** A place in a configuration file, or in the settings. Lines and columns count from 1. */
export interface SourcePosition {
  /** A path, or "settings"; undefined for the default file. */
  readonly source?: string;
  /** The name of one of the settings. */
  readonly setting?: string;
  readonly line?: number;
  readonly column?: number;
}

/**
 * A page that the sidecar wants to open and the host cannot open itself: a browser opens only links that the person
 * clicks.
 */
export interface PageToOpen {
  readonly id: number;
  /** An http or https URL, with only characters that URLs allow. */
  readonly url: string;
  /** A sentence that says who wants to open the page, and why. */
  readonly reason: string;
}

/** All pages that wait, the oldest first. */
export interface PagesToOpen {
  readonly pages: readonly PageToOpen[];
}

/** A server of which the host asks whether it may run, and which the host cannot show in a dialog of its own. */
export interface ServerToConfirm {
  readonly id: string;
  readonly server: ConfirmServerParams;
}

/** All servers that wait for a decision, the oldest first. */
export interface ServersToConfirm {
  readonly confirmations: readonly ServerToConfirm[];
}

/** What the person decided. Without a decision, the server does not run, and the person is asked again. */
export interface ConfirmedParams extends ConfirmServerResult {
  readonly id: string;
}

/** Whether the sidecar's configuration has the example server. */
export interface SetExampleServerParams {
  readonly added: boolean;
}

/** Whether the page has the keyboard focus. */
export interface FocusParams {
  readonly focused: boolean;
}

/** The state of a page. The next page gets it as `data-view`. */
export interface ViewOfPanel {
  /** A JSON object of the page's own format. */
  readonly view: unknown;
}

/** What the person did with a page. */
export interface PageDoneParams {
  readonly id: number;
  readonly opened: boolean;
}

/** What the webview needs to know about its host. */
export interface HostReadyResult {
  readonly status: SidecarStatus;
  /** Suggestions for the first message of a new task. Undefined if the host has none of its own. */
  readonly prompts?: readonly string[];
  /** What to reveal, requested before the webview was ready. */
  readonly reveal?: Reveal;
  /** The host serves `host/importServers`. */
  readonly imports?: boolean;
  /** The host serves `host/chooseModel`, `host/setModelApiKey`, `host/openWalkthrough` and `host/addProgram`. */
  readonly setsUp?: boolean;
  /** The host serves `host/frameUrl`: the person's machine is another one than the sidecar's. */
  readonly mapsFrames?: boolean;
  /**
   * The host serves `host/pickFiles` and `host/readFile`. Otherwise the page has its own control, and takes no files
   * from VS Code.
   */
  readonly picksFiles?: boolean;
  /** Absent if there are none. */
  readonly pages?: readonly PageToOpen[];
  /** Absent if the host asks in dialogs of its own. */
  readonly confirmations?: readonly ServerToConfirm[];
}

/** Whether other programs can start Assent now. */
export interface AddProgramResult {
  readonly added: boolean;
}

/** The files that the person chose; empty if they chose none. */
export interface PickFilesResult {
  readonly files: readonly PickedFile[];
}

/** The URI of a dropped file, as VS Code gives it. */
export interface ReadFileParams {
  readonly uri: string;
}

/** The name of a stored file. The host chose it. */
export interface KeepFileResult {
  readonly id: string;
}

export interface KeptFileParams {
  readonly id: string;
}

/** The stored content; undefined if it was removed. */
export interface KeptFileResult {
  readonly file?: AttachedFile;
}

export interface ForgetFilesParams {
  readonly ids: readonly string[];
}

/** An attachment. */
export interface PickedFile {
  /** The name without folders. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The content in base64; undefined if it has more than 4 MiB. */
  readonly data?: string;
}

/** The address of an app's frame, on the machine of the sidecar: `OpenAppResult.url`. */
export interface FrameUrlParams {
  readonly url: string;
}

/** The same frame, as the person's machine reaches it. */
export interface FrameUrlResult {
  readonly url: string;
}

/** A text for the person to read or save. */
export interface OpenTextParams {
  readonly title: string;
  /** In Markdown. */
  readonly text: string;
}

/** Whether the host can show texts; otherwise the webview offers a file. */
export interface OpenTextResult {
  readonly opened: boolean;
}

/** The notifications of the host to the webview. */
export interface HostNotifications {
  "host/sidecarStatus": SidecarStatus;
  "host/reveal": Reveal;
  "host/pages": PagesToOpen;
  "host/confirmations": ServersToConfirm;
}

/** What the webview should reveal. */
export type Reveal =
  /** The oldest open ask. */
  | { readonly kind: "ask" }
  /** The open asks of all tasks. */
  | { readonly kind: "openAsks" }
  /** The next or previous open ask, among those of all tasks. */
  | { readonly kind: "nextAsk" | "previousAsk" }
  | { readonly kind: "newTask" }
  /** The first question of the example server, which is added if needed. */
  | { readonly kind: "exampleServer" }
  /** A text to append to the person's unsent message. Nothing is sent. */
  | { readonly kind: "draft"; readonly text: string }
  /** A task, at its end. */
  | { readonly kind: "task"; readonly taskId: string }
  /** A message of a task. */
  | { readonly kind: "message"; readonly taskId: string; readonly messageId: number }
  /** The MCP tasks of all tasks. */
  | { readonly kind: "mcpTasks" }
  /** The automatic answers, with the focus on a grant if one is named. */
  | { readonly kind: "policy"; readonly grantId?: string }
  /** The servers, or one of them. */
  | { readonly kind: "servers"; readonly serverName?: string }
  /** The setup of other programs. */
  | { readonly kind: "setup" }
  /** The tool runner, with a server chosen if one is named. */
  | { readonly kind: "toolRunner"; readonly serverName?: string };

/** The webview's host. */
export interface Host {
  requests: HostRequests;
  notifications: HostNotifications;
}
