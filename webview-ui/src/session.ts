import {
  type AskResponseParams,
  type AttachedFile,
  type CallResult,
  type ClaimAskParams,
  type ClaimAskResult,
  type CompleteParams,
  type CompleteResult,
  ErrorCode,
  type ExtendAskParams,
  type GrantTerms,
  type ListChangedParams,
  type ListKind,
  type McpTaskEntry,
  type OpenAskURLParams,
  type Outcome,
  type PreviewGrantResult,
  type SearchTasksParams,
  type SearchTasksResult,
  type SendChatParams,
  type ServerMcpTask,
  type StartCallParams,
  type StopSamplingParams,
  type Task,
  type TaskSettings,
} from "@assent/protocol";
import type { PickedFile, Reveal, SidecarStatus, SourcePosition } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import type { LinkListener } from "./bridge.ts";
import { type Client, type RequestOptions, RpcError } from "./client.ts";
import { markdownOf } from "./markdownOf.ts";
import { fileName, offerFile } from "./offerFile.ts";
import type { Listing, Offered, OfferKind } from "./state/offers.ts";
import { reduce } from "./state/reducer.ts";
import {
  type Action,
  type Conversation,
  defaultPanelSettings,
  initialState,
  type State,
} from "./state/state.ts";
import type { Draft, ViewStateStore } from "./viewState.ts";

/** How long a draft waits for the next keystroke before it is saved, in milliseconds. */
const draftPause = 300;

/** The bounds of a page's length in messages: the sidecar's own choice, and the most. */
const pageSize = { least: 200, most: 1000 } as const;

/** The pause between two readings of the list of open asks, in milliseconds. */
const inboxPause = 100;

/** The pause between two inspections of a server, in milliseconds. */
const inspectionPause = 500;

/** The server that Assent brings along, as `sidecar/config` names it, and its tool. */
export const exampleServer = "example-server";
const exampleTool = "plan_lunch";

/** The acts of the person. A failed act is noted in the state, unless the act returns a promise. */
export interface Actions {
  /** Finds a text in messages. Rejects with an {@link RpcError} if the sidecar cannot search. */
  searchTasks(params: SearchTasksParams, signal: AbortSignal): Promise<SearchTasksResult>;
  /** Makes a task and opens it. */
  newTask(): void;
  openTask(taskId: string): void;
  renameTask(taskId: string, title: string): void;
  closeTask(taskId: string): void;
  /** Deletes a task. With `close`, its calls and its turn are ended first. */
  deleteTask(taskId: string, close: boolean): void;
  /** Brings back a deleted task, and opens it; without an id, the one that was deleted last. */
  restoreTask(taskId?: string): void;
  /** Hides the offer to restore a deleted task. */
  dismissDeletion(): void;
  /**
   * Takes over a task that is live in another window. Resolves once it is here, with the drafts of that window, or
   * once it was refused, which the person is told.
   */
  /** Reads the open task again after that failed. */
  retryTask(taskId: string): void;
  /** Reads a page of older messages. With a message, the page reaches to it, within bounds. */
  loadEarlier(messageId?: number): void;
  /** Drops the messages before one. They are read again when the person scrolls to them. */
  forgetEarlier(messageId: number): void;
  /**
   * Places a question that no task has, or dismisses it. Resolves to its place. Rejects with an {@link RpcError} if
   * it is settled already, or cannot be placed there.
   */
  claimAsk(params: ClaimAskParams): Promise<ClaimAskResult>;
  /** Answers an ask. Resolves once the answer is kept; rejects with an {@link RpcError} if it is refused. */
  answer(params: AskResponseParams): Promise<Outcome>;
  /**
   * Opens the page of an ask. The person has just consented to its whole URL. Resolves to whether the page was opened;
   * rejects as an answer does.
   */
  openAskUrl(params: OpenAskURLParams): Promise<boolean>;
  /** Saves the draft of an ask on disk after a pause; undefined removes it. */
  saveDraft(taskId: string, askId: string, draft: Draft | undefined): void;
  /** Extends the time for an ask. Rejects with an {@link RpcError} if there is no more. */
  extendAsk(params: ExtendAskParams): Promise<void>;
  /** Ends "decline everything" for a server. Rejects with an {@link RpcError}. */
  askAgain(serverName: string): Promise<void>;
  /** Stops a model. Rejects with an {@link RpcError} if there is no text to keep. */
  stopSampling(params: StopSamplingParams): Promise<void>;
  /**
   * Sends a message to the model of the open task. If no task is open, it makes one with those settings.
   * Resolves once the message is kept; rejects with an {@link RpcError} if it is not.
   */
  sendChat(params: Omit<SendChatParams, "taskId">, settings?: TaskSettings): Promise<void>;
  /** Lets the person choose files. Only for a host with `picksFiles`. */
  pickFiles(): Promise<readonly PickedFile[]>;
  /** Reads a file that was dragged from VS Code. Only for a host with `picksFiles`. */
  readFile(uri: string): Promise<PickedFile>;
  /** Has the host keep a file that is not sent yet. Resolves to its id once it is on disk. */
  keepFile(file: AttachedFile): Promise<string>;
  /** Reads a file that the host keeps; undefined if it is gone. */
  keptFile(id: string): Promise<AttachedFile | undefined>;
  forgetFiles(ids: readonly string[]): void;
  /** Reads a resource in the open task. Resolves to the call once it succeeded; rejects if it failed. */
  readResource(serverName: string, uri: string): Promise<number>;
  stopChat(taskId: string): void;
  /** Asks the model again. Its new message replaces the last one. */
  retryChat(taskId: string): void;
  unqueueChat(taskId: string, queuedId: string): void;
  /** Chooses the model and the servers of a task's conversation. */
  configureTask(taskId: string, settings: TaskSettings): void;
  /** Starts another task with the conversation up to a message, and opens it. */
  branchTask(taskId: string, messageId: number): void;
  /** Shows a task as a document in Markdown, with its older messages. */
  exportTask(taskId: string): void;
  /** Reads the remembered answers about tools. */
  listToolRules(): void;
  /** Removes a remembered answer. Rejects with an {@link RpcError} if it stays. */
  removeToolRule(ruleId: string): Promise<void>;
  /** Sends a request to a server in the open task. If no task is open, it makes one. */
  startCall(params: Omit<StartCallParams, "taskId">): Promise<void>;
  /** Resolves to whether the sidecar accepted it. If not, the person is told. */
  cancelCall(taskId: string, messageId: number): Promise<boolean>;
  /** Reads the open asks of all tasks again. */
  listOpenAsks(): void;
  /**
   * Reads the MCP tasks of all tasks again, and asks servers for those that only they know. No event tells of the MCP
   * tasks of other windows.
   */
  listMcpTasks(): void;
  /** Reads one more page of the list of MCP tasks. */
  moreMcpTasks(): void;
  /**
   * Follows a server's MCP task in the open task. If no open task takes calls, it makes one. Resolves to the place of
   * the call; to undefined if it was refused, which the person is told.
   */
  followMcpTask(task: ServerMcpTask): Promise<StartedCall | undefined>;
  /** Reads the grants again. */
  listGrants(): void;
  /** Makes a grant outside of an ask. Rejects with an {@link RpcError} that says what is wrong with it. */
  createGrant(terms: GrantTerms): Promise<void>;
  /** Ends a grant at once. Rejects with an {@link RpcError} if it stays. */
  revokeGrant(grantId: string): Promise<void>;
  /** Tries a grant on past requests. Rejects as making the grant would. */
  previewGrant(terms: GrantTerms): Promise<PreviewGrantResult>;
  /** Reads lists of a server's offers. Starts the server if it is not running. */
  listOffers(serverName: string, kinds: readonly OfferKind[], signal: AbortSignal): void;
  /** Asks a server for completions of an argument. Rejects with an {@link RpcError} if it has none. */
  complete(params: CompleteParams, signal: AbortSignal): Promise<CompleteResult>;
  /** Reads the list of servers again. */
  listServers(): void;
  /** Inspects a server. A second wish during an inspection leads to one more after it. */
  inspectServer(serverName: string): void;
  startServer(serverName: string): void;
  restartServer(serverName: string): void;
  stopServer(serverName: string): void;
  /** Reads which models a server may have. */
  /** Lists those of a task's workspace, or else of the own one. */
  listModels(serverName: string, task?: Task): void;
  restartSidecar(): void;
  showLog(): void;
  openConfiguration(position: SourcePosition): void;
  /** Has the host offer the servers of other programs. Only for a host with `imports`. */
  importServers(): void;
  /** Adds the example server and calls its tool: in the open task if that is empty, else in a new one. */
  tryExampleServer(): void;
  removeExampleServer(): void;
  /** The host has the person choose a model, give a key, or read the walkthrough. Only for a host that `setsUp`. */
  chooseModel(): void;
  setModelApiKey(): void;
  openWalkthrough(): void;
  /** Tells the host whether the page has the keyboard; in VS Code only. */
  focusChanged(focused: boolean): void;
  reveal(reveal: Reveal): void;
  revealed(): void;
  /** Tells the host the outcome of a page that it asked the person to open. */
  pageDone(id: number, opened: boolean): void;
  dismissFailure(): void;
  dismissStorageNote(): void;
}

/** The place of a call. */
export interface StartedCall {
  readonly taskId: string;
  readonly messageId: number;
}

/** The state and everything that changes it. It does not depend on the components. */
export interface Session extends LinkListener {
  getState(): State;
  /** Calls back after every change, until the returned function is called. */
  subscribe(onChange: () => void): () => void;
  readonly actions: Actions;
}

export function createSession(view: ViewStateStore): Session {
  let state = initialState;
  let client: Client | undefined;
  let catchingUp = false;
  let readingInbox = false;
  /** The lists that are being read again, with whether they changed since. */
  const changed = new Map<string, boolean>();
  /** The servers that are being inspected, with whether another inspection is due. */
  const inspecting = new Map<string, boolean>();
  const listeners = new Set<() => void>();
  /** The drafts that wait to be saved, by ask. */
  const unsaved = new Map<string, ReturnType<typeof setTimeout>>();

  function dispatch(action: Action): void {
    const before = state;
    state = reduce(state, action);
    if (state === before) return;
    for (const listener of listeners) listener();
  }

  function request(): Client["request"] {
    if (client === undefined) {
      throw new RpcError(
        ErrorCode.Unavailable,
        l10n.t("There is no connection to Assent right now."),
      );
    }
    return client.request;
  }

  /** Starts an act without waiting for it. If it fails, the person is told. */
  function attempt(work: () => Promise<unknown>): void {
    void (async () => {
      try {
        await work();
      } catch (error) {
        dispatch({ type: "failed", message: messageOf(error) });
      }
    })();
  }

  function take(status: SidecarStatus): void {
    dispatch({ type: "sidecarStatus", status });
    if (status.state !== "running") return;
    attempt(listServers);
    attempt(() => listTasks(true));
    catchUp();
    listOpenAsks();
    listMcpTasks();
    listGrants();
  }

  /** With `choose`, a task is opened in the same step if none is open, so nothing is drawn in between. */
  async function listTasks(choose = false): Promise<void> {
    const { tasks = [], deleted = [], storageFailure, storageNote } = await request()("task/list");
    dispatch({ type: "tasksListed", tasks, deleted });
    if (choose && !isListed(state)) select(firstTask(state, view.get().openTaskId));
    if (storageFailure !== undefined) dispatch({ type: "storageFailed", message: storageFailure });
    if (storageNote !== undefined) dispatch({ type: "storageNoted", message: storageNote });
  }

  async function listServers(): Promise<void> {
    dispatch({ type: "serversListed", params: await request()("server/list") });
  }

  const readers: {
    readonly [K in OfferKind]: (
      serverName: string,
      options?: RequestOptions,
    ) => Promise<readonly Offered[K][]>;
  } = {
    async tools(serverName, options) {
      return (await request()("tools/list", { serverName }, options)).tools ?? [];
    },
    async resources(serverName, options) {
      return (await request()("resources/list", { serverName }, options)).resources ?? [];
    },
    async templates(serverName, options) {
      const result = await request()("resources/templates/list", { serverName }, options);
      return result.resourceTemplates ?? [];
    },
    async prompts(serverName, options) {
      return (await request()("prompts/list", { serverName }, options)).prompts ?? [];
    },
  };

  function putOffers(
    serverName: string,
    kind: OfferKind,
    list: Listing<unknown> | undefined,
  ): void {
    dispatch({ type: "offersChanged", serverName, offers: { [kind]: list } });
  }

  /** Reads a list that the person waits for. */
  async function readOffers(
    serverName: string,
    kind: OfferKind,
    signal: AbortSignal,
  ): Promise<void> {
    const loading = { state: "loading" } as const;
    putOffers(serverName, kind, loading);
    const read = async (): Promise<Listing<unknown> | undefined> => {
      try {
        return { state: "ready", items: await readers[kind](serverName, { signal }) };
      } catch (error) {
        return signal.aborted ? undefined : { state: "failed", message: messageOf(error) };
      }
    };
    const list = await read();
    // A later reading replaces this one.
    if (state.offers.get(serverName)?.[kind] === loading) putOffers(serverName, kind, list);
  }

  /**
   * Reads a list again after a server said that it changed. The old list stays in sight until then, so that no form
   * disappears while the person uses it. At most one reading runs, and one more may follow it.
   */
  function readAgain(serverName: string, kind: OfferKind): void {
    const isShown = () => state.offers.get(serverName)?.[kind]?.state === "ready";
    if (!isShown()) return;
    const key = JSON.stringify([serverName, kind]);
    if (changed.has(key)) {
      changed.set(key, true);
      return;
    }
    attempt(async () => {
      try {
        do {
          changed.set(key, false);
          const items = await readers[kind](serverName);
          // A restart or a failure since then counts more.
          if (!isShown()) return;
          putOffers(serverName, kind, { state: "ready", items });
        } while (changed.get(key));
      } finally {
        changed.delete(key);
      }
    });
  }

  function select(taskId: string | undefined): void {
    dispatch({ type: "taskSelected", taskId });
    if (taskId !== undefined && taskId !== view.get().openTaskId) {
      view.update(({ place: _left, ...kept }) => ({ ...kept, openTaskId: taskId }));
    }
    catchUp();
  }

  /** Reads the open task until nothing is missing, one reading at a time. */
  function catchUp(): void {
    if (catchingUp) return;
    catchingUp = true;
    attempt(async () => {
      try {
        while (state.tasksMissed || unread(state) !== undefined) await readMissing();
      } finally {
        catchingUp = false;
      }
    });
  }

  async function readMissing(): Promise<void> {
    if (state.tasksMissed) await listTasks();
    const open = unread(state);
    if (open === undefined) return;
    const { taskId, after } = open;
    try {
      const result = await request()("task/open", { taskId, after });
      dispatch({ type: "taskRead", taskId, result });
    } catch (error) {
      dispatch({ type: "taskReadFailed", taskId, message: messageOf(error) });
    }
  }

  /**
   * Reads the open asks until none is missing. Nothing waits for it. There is a pause between two readings, even if
   * servers ask fast.
   */
  function listOpenAsks(): void {
    if (readingInbox || !state.inbox.missed) return;
    readingInbox = true;
    void (async () => {
      while (state.inbox.missed) {
        dispatch({ type: "inboxAsked" });
        try {
          dispatch({ type: "inboxListed", result: await request()("ask/list") });
        } catch (error) {
          dispatch({ type: "inboxListFailed", message: messageOf(error) });
        }
        await new Promise((resolve) => setTimeout(resolve, inboxPause));
      }
      readingInbox = false;
    })();
  }

  /** Reads the list of MCP tasks until none is missing. Nothing waits for it. */
  function listMcpTasks(): void {
    if (state.mcpTasks.reading) return;
    void (async () => {
      while (state.mcpTasks.missed) {
        dispatch({ type: "mcpTasksAsked" });
        try {
          dispatch({ type: "mcpTasksListed", ...(await readMcpTasks(state.mcpTasks.pages)) });
        } catch (error) {
          dispatch({ type: "mcpTasksListFailed", message: messageOf(error) });
        }
      }
    })();
  }

  /** Reads the first pages of the list of MCP tasks. An entry that changes in between is on two pages. */
  async function readMcpTasks(pages: number) {
    const entries = new Map<string, McpTaskEntry>();
    let page = await request()("mcpTask/list");
    for (let count = 1; ; count++) {
      for (const entry of page.mcpTasks ?? []) {
        const key = `${entry.taskId}:${entry.messageId}`;
        if (!entries.has(key)) entries.set(key, entry);
      }
      const { nextCursor } = page;
      if (nextCursor === undefined || count === pages) {
        return { entries: [...entries.values()], more: nextCursor !== undefined };
      }
      page = await request()("mcpTask/more", { cursor: nextCursor });
    }
  }

  /** Asks servers for the MCP tasks that only they know, one request at a time. */
  function listServerMcpTasks(): void {
    if (state.serverMcpTasks.reading) return;
    dispatch({ type: "serverMcpTasksAsked" });
    void (async () => {
      try {
        const result = await request()("mcpTask/listOfServers");
        dispatch({ type: "serverMcpTasksListed", result });
      } catch (error) {
        dispatch({ type: "serverMcpTasksListFailed", message: messageOf(error) });
      }
    })();
  }

  /** Reads the grants. Nothing waits for it. Events during the reading are newer than the list. */
  function listGrants(): void {
    if (state.grants.news !== undefined) return;
    void (async () => {
      dispatch({ type: "grantsAsked" });
      try {
        const { grants = [] } = await request()("grant/list");
        dispatch({ type: "grantsListed", grants });
      } catch (error) {
        dispatch({ type: "grantsListFailed", message: messageOf(error) });
      }
    })();
  }

  /** Reads the remembered answers about tools. Nothing waits for it. */
  function listToolRules(): void {
    void (async () => {
      try {
        const { rules = [] } = await request()("toolRule/list");
        dispatch({ type: "toolRulesListed", rules });
      } catch (error) {
        dispatch({ type: "toolRulesListFailed", message: messageOf(error) });
      }
    })();
  }

  /** Inspects a server. Nothing waits for it. There is a pause between two inspections. */
  function inspectServer(serverName: string): void {
    const isUnderWay = inspecting.has(serverName);
    inspecting.set(serverName, isUnderWay);
    if (isUnderWay) return;
    void (async () => {
      do {
        inspecting.set(serverName, false);
        dispatch({ type: "inspectionAsked", serverName });
        try {
          const result = await request()("server/inspect", { serverName });
          dispatch({ type: "inspectionRead", serverName, result });
        } catch (error) {
          dispatch({ type: "inspectionFailed", serverName, message: messageOf(error) });
        }
        await new Promise((resolve) => setTimeout(resolve, inspectionPause));
      } while (inspecting.get(serverName));
      inspecting.delete(serverName);
    })();
  }

  async function followMcpTask({ serverName, mcpTaskId }: ServerMcpTask): Promise<StartedCall> {
    const open = state.conversation;
    const taskId = takesCalls(open) ? open.taskId : await createTask();
    const params = { taskId, serverName, request: { type: "tasks/result", mcpTaskId } } as const;
    const { messageId } = await request()("call/start", params);
    return { taskId, messageId };
  }

  async function tryExampleServer(): Promise<void> {
    await request()("host/setExampleServer", { added: true });
    const open = state.conversation;
    const taskId =
      takesCalls(open) && open.task !== undefined && open.messages.length === 0
        ? open.taskId
        : await createTask();
    const call = { type: "tools/call", toolName: exampleTool, arguments: {} } as const;
    await request()("call/start", { taskId, serverName: exampleServer, request: call });
  }

  /** Takes in a notification about a task, and reads again if it shows a gap. */
  function hear(action: Action): void {
    dispatch(action);
    catchUp();
    listOpenAsks();
    listMcpTasks();
  }

  async function createTask(): Promise<string> {
    const task = await request()("task/create", {});
    dispatch({ type: "taskKnown", task });
    select(task.id);
    return task.id;
  }

  async function loadEarlier(messageId?: number): Promise<void> {
    const open = state.conversation;
    const first = open?.messages[0];
    if (open === undefined || first === undefined || open.paging) return;
    const { taskId } = open;
    dispatch({ type: "pageAsked", taskId });
    try {
      const limit = messageId === undefined ? undefined : pageTo(first.id - messageId);
      const params = { taskId, before: first.id, ...(limit !== undefined && { limit }) };
      const result = await request()("task/open", params);
      dispatch({ type: "pageRead", taskId, result });
    } catch (error) {
      dispatch({ type: "pageRead", taskId });
      throw error;
    }
  }

  async function exportTask(taskId: string): Promise<void> {
    const newest = await request()("task/open", { taskId, after: 0 });
    const pages = [newest.messages ?? []];
    for (let earlier = newest.earlier ?? false; earlier; ) {
      const before = pages[0]?.[0]?.id;
      if (before === undefined) break;
      const page = await request()("task/open", { taskId, before, limit: pageSize.most });
      const { messages = [] } = page;
      if (messages.length === 0) break;
      pages.unshift(messages);
      earlier = page.earlier ?? false;
    }
    const { title } = newest.task;
    const text = markdownOf(newest.task, pages.flat());
    const { opened } = await request()("host/openText", { title, text });
    if (!opened) offerFile(`${fileName(title)}.md`, text);
  }

  async function answer(params: AskResponseParams): Promise<Outcome> {
    const { outcome } = await aboutAsk(params, () => request()("askResponse", params));
    view.setDraft(params.askId, undefined);
    return outcome;
  }

  /** Saves the newest draft a moment after the last keystroke. The view's state has it until then. */
  function saveDraft(taskId: string, askId: string, draft: Draft | undefined): void {
    clearTimeout(unsaved.get(askId));
    unsaved.set(
      askId,
      setTimeout(() => {
        unsaved.delete(askId);
        attempt(async () => {
          await aboutAsk({ taskId, askId }, () =>
            request()("ask/draft", { taskId, askId, draft: draft ?? null }),
          );
        });
      }, draftPause),
    );
  }

  async function openAskUrl(params: OpenAskURLParams): Promise<boolean> {
    const { opened } = await aboutAsk(params, () => request()("ask/openUrl", params));
    return opened;
  }

  async function aboutAsk<T>({ taskId }: OpenAskURLParams, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // The ask is settled although it looks open here, so this page is behind.
      const code = codeOf(error);
      if (code === ErrorCode.AskSettled || code === ErrorCode.UnknownAsk) {
        hear({ type: "taskDoubted", taskId });
      }
      throw error;
    }
  }

  async function readResource(serverName: string, uri: string): Promise<number> {
    const taskId = state.conversation?.taskId;
    if (taskId === undefined)
      throw new Error(l10n.t("Open a task first: a resource is read in one."));
    const params = { taskId, serverName, request: { type: "resources/read", uri } } as const;
    const { messageId } = await request()("call/start", params);
    const result = await endOf(taskId, messageId);
    if (result.type === "result" && result.isError !== true) return messageId;
    throw new Error(`${uri} of ${serverName} could not be read: its call says why.`);
  }

  /** Waits for the end of a call, as long as its task is open here. */
  function endOf(taskId: string, messageId: number): Promise<CallResult> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const { conversation } = state;
        const body = conversation?.messages.find(({ id }) => id === messageId)?.body;
        if (conversation?.taskId !== taskId) {
          listeners.delete(look);
          reject(new Error(l10n.t("Another task was opened before the resource was read.")));
        } else if (body?.type === "call" && body.result !== undefined) {
          listeners.delete(look);
          resolve(body.result);
        }
      };
      listeners.add(look);
      look();
    });
  }

  async function restoreTask(taskId: string | undefined): Promise<void> {
    if (taskId === undefined)
      throw new Error(l10n.t("There is no deleted task that could be restored."));
    try {
      const task = await request()("task/restore", { taskId });
      hear({ type: "taskKnown", task });
      select(task.id);
    } finally {
      dispatch({ type: "deletionDone" });
    }
  }

  const actions: Actions = {
    async searchTasks(params, signal) {
      return await request()("task/search", params, { signal });
    },
    newTask: () => attempt(createTask),
    openTask: select,
    renameTask: (taskId, title) =>
      attempt(async () => {
        const task = await request()("task/rename", { taskId, title });
        dispatch({ type: "taskKnown", task });
      }),
    closeTask: (taskId) =>
      attempt(async () => {
        const task = await request()("task/close", { taskId });
        dispatch({ type: "taskKnown", task });
      }),
    deleteTask: (taskId, close) =>
      attempt(async () => {
        const task = await request()("task/delete", { taskId, close });
        hear({ type: "taskDeleted", task });
      }),
    restoreTask: (taskId) => attempt(() => restoreTask(taskId ?? state.deletedTasks[0]?.id)),
    dismissDeletion: () => dispatch({ type: "deletionDone" }),
    retryTask: (taskId) => hear({ type: "taskDoubted", taskId }),
    loadEarlier: (messageId) => attempt(() => loadEarlier(messageId)),
    forgetEarlier(messageId) {
      const taskId = state.conversation?.taskId;
      if (taskId !== undefined) dispatch({ type: "pagesForgotten", taskId, before: messageId });
    },
    async claimAsk(params) {
      try {
        return await request()("ask/claim", params);
      } finally {
        // Placed, refused, or too late: the list is out of date.
        hear({ type: "inboxDoubted" });
      }
    },
    answer,
    openAskUrl,
    saveDraft,
    async extendAsk(params) {
      await aboutAsk(params, () => request()("ask/extend", params));
    },
    async askAgain(serverName) {
      await request()("ask/again", { serverName });
    },
    async stopSampling(params) {
      await request()("sampling/stop", params);
    },
    async sendChat(params, settings) {
      const open = state.conversation;
      // A closed task can only be read.
      const taskId =
        open === undefined || open.task?.closed === true ? await createTask() : open.taskId;
      if (taskId !== open?.taskId && settings !== undefined) {
        const task = await request()("task/configure", { taskId, settings });
        dispatch({ type: "taskKnown", task });
      }
      await request()("chat/send", { ...params, taskId });
    },
    async pickFiles() {
      return (await request()("host/pickFiles")).files;
    },
    async readFile(uri) {
      return await request()("host/readFile", { uri });
    },
    async keepFile(file) {
      return (await request()("host/keepFile", file)).id;
    },
    async keptFile(id) {
      return (await request()("host/keptFile", { id })).file;
    },
    forgetFiles: (ids) => attempt(() => request()("host/forgetFiles", { ids })),
    readResource,
    stopChat: (taskId) => attempt(() => request()("chat/stop", { taskId })),
    retryChat: (taskId) => attempt(() => request()("chat/retry", { taskId })),
    unqueueChat: (taskId, queuedId) =>
      attempt(() => request()("chat/unqueue", { taskId, queuedId })),
    configureTask: (taskId, settings) =>
      attempt(async () => {
        const task = await request()("task/configure", { taskId, settings });
        dispatch({ type: "taskKnown", task });
      }),
    branchTask: (taskId, messageId) =>
      attempt(async () => {
        const task = await request()("task/branch", { taskId, messageId });
        dispatch({ type: "taskKnown", task });
        select(task.id);
      }),
    exportTask: (taskId) => attempt(() => exportTask(taskId)),
    listToolRules,
    async removeToolRule(ruleId) {
      await request()("toolRule/remove", { ruleId });
      listToolRules();
    },
    async startCall(params) {
      const taskId = state.conversation?.taskId ?? (await createTask());
      await request()("call/start", { ...params, taskId });
    },
    async cancelCall(taskId, messageId) {
      try {
        await request()("call/cancel", { taskId, messageId });
        return true;
      } catch (error) {
        dispatch({ type: "failed", message: messageOf(error) });
        return false;
      }
    },
    listOpenAsks: () => hear({ type: "inboxDoubted" }),
    listMcpTasks() {
      hear({ type: "mcpTasksDoubted" });
      listServerMcpTasks();
    },
    moreMcpTasks: () => hear({ type: "mcpTasksPageWanted" }),
    async followMcpTask(task) {
      try {
        return await followMcpTask(task);
      } catch (error) {
        dispatch({ type: "failed", message: messageOf(error) });
        return undefined;
      }
    },
    listGrants,
    async createGrant(terms) {
      dispatch({ type: "grantChanged", grant: await request()("grant/create", terms) });
    },
    async revokeGrant(grantId) {
      dispatch({ type: "grantChanged", grant: await request()("grant/revoke", { grantId }) });
    },
    async previewGrant(terms) {
      return await request()("grant/preview", terms);
    },
    listOffers(serverName, kinds, signal) {
      for (const kind of kinds) void readOffers(serverName, kind, signal);
    },
    async complete(params, signal) {
      return await request()("completion/complete", params, { signal });
    },
    listServers: () => attempt(listServers),
    inspectServer,
    startServer: (serverName) =>
      attempt(async () => {
        try {
          const server = await request()("server/start", { serverName });
          dispatch({ type: "serverChanged", server });
        } catch (error) {
          // The server's state says why, at the button that started it.
          if (codeOf(error) !== ErrorCode.ServerFailed) throw error;
        }
      }),
    restartServer: (serverName) =>
      attempt(async () => {
        const server = await request()("server/restart", { serverName });
        dispatch({ type: "serverChanged", server });
      }),
    stopServer: (serverName) =>
      attempt(async () => {
        const server = await request()("server/stop", { serverName });
        dispatch({ type: "serverChanged", server });
      }),
    listModels: (serverName, task) =>
      attempt(async () => {
        const { workspace = "", id: taskId } = task ?? {};
        const { models = [], away } = await request()("model/list", {
          serverName,
          ...(workspace !== "" && taskId !== undefined && { taskId }),
        });
        dispatch({ type: "modelsListed", workspace, serverName, listed: { models, away } });
      }),
    restartSidecar: () => attempt(() => request()("host/restartSidecar")),
    showLog: () => attempt(() => request()("host/showLog")),
    openConfiguration: (position) => attempt(() => request()("host/openConfiguration", position)),
    importServers: () => attempt(() => request()("host/importServers")),
    tryExampleServer: () => attempt(tryExampleServer),
    removeExampleServer: () => attempt(() => request()("host/setExampleServer", { added: false })),
    chooseModel: () => attempt(() => request()("host/chooseModel")),
    setModelApiKey: () => attempt(() => request()("host/setModelApiKey")),
    openWalkthrough: () => attempt(() => request()("host/openWalkthrough")),
    focusChanged: (focused) => attempt(() => request()("host/focus", { focused })),
    reveal: (reveal) => dispatch({ type: "reveal", reveal }),
    revealed: () => dispatch({ type: "revealed" }),
    pageDone: (id, opened) => attempt(() => request()("host/pageDone", { id, opened })),
    dismissFailure: () => dispatch({ type: "failureDismissed" }),
    dismissStorageNote: () => dispatch({ type: "storageNoteDismissed" }),
  };

  return {
    getState: () => state,
    subscribe(onChange) {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    actions,
    up(next) {
      client = next;
      next.onNotification("host/sidecarStatus", take);
      next.onNotification("host/reveal", actions.reveal);
      next.onNotification("host/settings", (settings) =>
        dispatch({ type: "settingsTold", settings }),
      );
      next.onNotification("host/pages", ({ pages }) => dispatch({ type: "pagesAsked", pages }));
      next.onNotification("task/event", (params) => hear({ type: "taskEvent", params }));
      next.onNotification("ask/unclaimedChanged", () => hear({ type: "inboxDoubted" }));
      next.onNotification("ask/othersChanged", () => hear({ type: "inboxDoubted" }));
      next.onNotification("ask/declinedChanged", () => hear({ type: "inboxDoubted" }));
      next.onNotification("mcpSamplingProgress", (params) =>
        hear({ type: "samplingProgress", params }),
      );
      next.onNotification("callProgress", (params) => hear({ type: "callProgress", params }));
      next.onNotification("chat/progress", (params) => hear({ type: "chatProgress", params }));
      next.onNotification("grant/changed", (grant) => dispatch({ type: "grantChanged", grant }));
      next.onNotification("server/changed", (server) =>
        dispatch({ type: "serverChanged", server }),
      );
      next.onNotification("server/listChanged", (params) =>
        dispatch({ type: "serversListed", params }),
      );
      next.onNotification("server/itemsChanged", ({ serverName, list }: ListChangedParams) => {
        for (const kind of kindsOf(list)) readAgain(serverName, kind);
      });
      next.onNotification("storage/failed", ({ message }) =>
        dispatch({ type: "storageFailed", message }),
      );
      next.onNotification("storage/recovered", ({ message }) =>
        dispatch({ type: "storageRecovered", message }),
      );
      dispatch({ type: "linkUp" });
      attempt(async () => {
        const {
          status,
          settings = defaultPanelSettings,
          reveal,
          imports = false,
          picksFiles = false,
          setsUp = false,
          pages = [],
        } = await next.request("host/ready");
        dispatch({ type: "hostReady", imports, picksFiles, setsUp });
        dispatch({ type: "settingsTold", settings });
        dispatch({ type: "pagesAsked", pages });
        take(status);
        if (reveal !== undefined) actions.reveal(reveal);
      });
    },
    down(retryInMs) {
      client = undefined;
      dispatch({ type: "linkDown", retryInMs });
    },
  };
}

/** Returns the length of a page that reaches so many messages back, and some more for context. */
function pageTo(back: number): number {
  return Math.min(Math.max(back + 50, pageSize.least), pageSize.most);
}

/** A server's resources and their templates change under one name. */
function kindsOf(list: ListKind): readonly OfferKind[] {
  return list === "resources" ? ["resources", "templates"] : [list];
}

/** Returns the open task if it has to be read, and the last reading did not fail. */
function unread(state: State) {
  const open = state.conversation;
  if (open?.behind === undefined || open.failure !== undefined) return undefined;
  return { taskId: open.taskId, after: open.behind };
}

/** Reports whether a call can be started in the open task. */
export function takesCalls(open: Conversation | undefined): open is Conversation {
  if (open?.task?.workspace !== undefined) return false;
  return open !== undefined && open.task?.closed !== true;
}

/** Reports whether a task is open that the sidecar still knows, or one of another workspace, which is in no list. */
function isListed({ tasks = [], conversation }: State): boolean {
  if (conversation?.task?.workspace !== undefined) return true;
  return tasks.some(({ id }) => id === conversation?.taskId);
}

/** Returns the task that was open last; else one that waits for the person; else the newest that is not closed. */
function firstTask({ tasks = [] }: State, lastOpen: string | undefined): string | undefined {
  const first =
    tasks.find(({ id }) => id === lastOpen) ??
    tasks.find(({ openAsks }) => openAsks > 0) ??
    tasks.find(({ closed }) => closed !== true);
  return first?.id;
}

function codeOf(error: unknown): number | undefined {
  return error instanceof RpcError ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
