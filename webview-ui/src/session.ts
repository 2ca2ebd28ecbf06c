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

/** How long a draft waits for the next keystroke before it is sent to be kept, in milliseconds. */
const draftPause = 300;

/** How many messages a page has that is as long as it needs to be: the sidecar's own choice, or more. */
const pageSize = { least: 200, most: 1000 } as const;

/** How long the list of open asks is left as it is while it changes, in milliseconds. */
const inboxPause = 100;

/** How long what is known of a server is left as it is while it changes, in milliseconds. */
const inspectionPause = 500;

/** What the person can do. An action that fails says so in the state, unless it returns a promise. */
export interface Actions {
  /** Finds a text in messages; rejects with an {@link RpcError} where that is not possible. */
  searchTasks(params: SearchTasksParams, signal: AbortSignal): Promise<SearchTasksResult>;
  /** Makes a task and opens it. */
  newTask(): void;
  openTask(taskId: string): void;
  renameTask(taskId: string, title: string): void;
  closeTask(taskId: string): void;
  /** Deletes a task; with `close`, what goes on in it ends before. */
  deleteTask(taskId: string, close: boolean): void;
  /** Brings back a deleted task, and opens it; without an id, the one that was deleted last. */
  restoreTask(taskId?: string): void;
  /** Puts the offer away to take a deletion back. */
  dismissDeletion(): void;
  /**
   * Brings a task here that is live in another window. Resolves once it is here with what was typed there, or
   * was refused, of which the person is told.
   */
  takeOver(taskId: string): Promise<void>;
  /** Reads the open task again after that failed. */
  retryTask(taskId: string): void;
  /** Reads a page of older messages; so long a one, within bounds, that a message is in it. */
  loadEarlier(messageId?: number): void;
  /** Drops the messages before one; they are read again when they are scrolled to. */
  forgetEarlier(messageId: number): void;
  /**
   * Says whose a question is that no task has, or dismisses it; resolves to where it is then. Rejects
   * with an {@link RpcError} where it is settled already, or cannot be placed there.
   */
  claimAsk(params: ClaimAskParams): Promise<ClaimAskResult>;
  /** Resolves once the answer is kept; rejects with an {@link RpcError} where it was refused. */
  answer(params: AskResponseParams): Promise<Outcome>;
  /**
   * Opens the page of an ask, to whose whole URL the person has just consented; says whether it was
   * opened. Rejects as an answer does.
   */
  openAskUrl(params: OpenAskURLParams): Promise<boolean>;
  /** Keeps what was typed into an ask on disk, soon; undefined forgets it. */
  saveDraft(taskId: string, askId: string, draft: Draft | undefined): void;
  /** Gives the person more time for an ask; rejects with an {@link RpcError} where there is none. */
  extendAsk(params: ExtendAskParams): Promise<void>;
  /** Takes back that everything is declined that a server asks for; rejects as the others. */
  askAgain(serverName: string): Promise<void>;
  /** Stops a model; rejects with an {@link RpcError} where nothing is written that could be kept. */
  stopSampling(params: StopSamplingParams): Promise<void>;
  /**
   * Says something to the model of the open task, or of a new one where none is open, with those settings.
   * Resolves once it is kept; rejects with an {@link RpcError} where it is not.
   */
  sendChat(params: Omit<SendChatParams, "taskId">, settings?: TaskSettings): Promise<void>;
  /** Has the person choose files; only where the state says that the host can. */
  pickFiles(): Promise<readonly PickedFile[]>;
  /** Reads a file that was dragged from VS Code; only where the state says that the host can. */
  readFile(uri: string): Promise<PickedFile>;
  /** Has the host keep a file that is not sent yet; resolves to its name there once it is on disk. */
  keepFile(file: AttachedFile): Promise<string>;
  /** Brings back a file that the host keeps; undefined where it has gone. */
  keptFile(id: string): Promise<AttachedFile | undefined>;
  forgetFiles(ids: readonly string[]): void;
  /** Reads a resource in the open task. Resolves to the call once that has ended well; rejects where it has not. */
  readResource(serverName: string, uri: string): Promise<number>;
  stopChat(taskId: string): void;
  /** Asks the model once more, in place of what it said last. */
  retryChat(taskId: string): void;
  unqueueChat(taskId: string, queuedId: string): void;
  /** Chooses the model and the servers of a task's conversation. */
  configureTask(taskId: string, settings: TaskSettings): void;
  /** Starts another task with the conversation up to a message, and opens it. */
  branchTask(taskId: string, messageId: number): void;
  /** Shows a task as a document in Markdown, with its older messages. */
  exportTask(taskId: string): void;
  /** Reads the answers about tools that are remembered. */
  listToolRules(): void;
  /** Takes one back; rejects with an {@link RpcError} where it holds on. */
  removeToolRule(ruleId: string): Promise<void>;
  /** Asks something of a server in the open task, or in a new one where none is open. */
  startCall(params: Omit<StartCallParams, "taskId">): Promise<void>;
  /** Says whether the sidecar took it; where it did not, the person is told. */
  cancelCall(taskId: string, messageId: number): Promise<boolean>;
  /** Reads the open asks of every task anew. */
  listOpenAsks(): void;
  /**
   * Reads the MCP tasks of every task anew, and asks servers for those that only they know: those of
   * other windows tell nothing of themselves.
   */
  listMcpTasks(): void;
  /** Reads one more page of the list of MCP tasks. */
  moreMcpTasks(): void;
  /**
   * Follows a server's MCP task in the open task, or in a new one where none is open that takes calls.
   * Resolves to where that is; to undefined where it was refused, of which the person is told.
   */
  followMcpTask(task: ServerMcpTask): Promise<StartedCall | undefined>;
  /** Reads the grants anew. */
  listGrants(): void;
  /** Makes a grant outside of an ask; rejects with an {@link RpcError} that says what is wrong with it. */
  createGrant(terms: GrantTerms): Promise<void>;
  /** Ends a grant at once; rejects with an {@link RpcError} where it goes on. */
  revokeGrant(grantId: string): Promise<void>;
  /** Says what a grant would have done; rejects as its making would. */
  previewGrant(terms: GrantTerms): Promise<PreviewGrantResult>;
  /** Reads lists of what a server offers, starting the server where it is not running. */
  listOffers(serverName: string, kinds: readonly OfferKind[], signal: AbortSignal): void;
  /** Asks a server what an argument could be; rejects with an {@link RpcError} where it cannot say. */
  complete(params: CompleteParams, signal: AbortSignal): Promise<CompleteResult>;
  /** Reads the list of servers anew. */
  listServers(): void;
  /** Reads all that is known of a server. While it is being read it is read once more after that. */
  inspectServer(serverName: string): void;
  startServer(serverName: string): void;
  restartServer(serverName: string): void;
  stopServer(serverName: string): void;
  /** Reads which models a server may have. */
  listModels(serverName: string): void;
  restartSidecar(): void;
  showLog(): void;
  openConfiguration(position: SourcePosition): void;
  /** Has the host offer the servers of other programs; only where the state says that it can. */
  importServers(): void;
  /** Says that the page has the keyboard now, or has it no more; in VS Code only. */
  focusChanged(focused: boolean): void;
  reveal(reveal: Reveal): void;
  revealed(): void;
  /** Says what became of a page that the host has the person open. */
  pageDone(id: number, opened: boolean): void;
  dismissFailure(): void;
  dismissStorageNote(): void;
}

/** Where a call is. */
export interface StartedCall {
  readonly taskId: string;
  readonly messageId: number;
}

/** The state and all that changes it; knows nothing of how it is drawn. */
export interface Session extends LinkListener {
  getState(): State;
  /** Calls back after every change, until the function that it returns is called. */
  subscribe(onChange: () => void): () => void;
  readonly actions: Actions;
}

export function createSession(view: ViewStateStore): Session {
  let state = initialState;
  let client: Client | undefined;
  let catchingUp = false;
  let readingInbox = false;
  /** The lists that are being read again, and whether they changed once more since. */
  const changed = new Map<string, boolean>();
  /** The servers that are being inspected, and whether that was asked for once more since. */
  const inspecting = new Map<string, boolean>();
  const listeners = new Set<() => void>();
  /** The drafts that are about to be kept, by ask. */
  const unsaved = new Map<string, ReturnType<typeof setTimeout>>();
  /** The drafts that the sidecar has from here, by ask, as JSON. */
  const saved = new Map<string, string>();

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

  /** Does something that nobody waits for. Where it fails, the person is told. */
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

  /** With `choose`, a task is opened at once where none is: nothing is drawn between the two. */
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
    // Whoever began to read it anew since then has the last word.
    if (state.offers.get(serverName)?.[kind] === loading) putOffers(serverName, kind, list);
  }

  /**
   * Reads a list again that a server says has changed. The old one stays in sight until then, lest a
   * form go away under somebody's hands; and however often the server says so, one reading is under
   * way, and one more may follow it.
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
          // What a restart or a failure has said of the list since then counts more.
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

  /** Reads for as long as something is missing; one read at a time. */
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
   * Reads the open asks for as long as something is missing among them; nothing waits for that. However
   * fast servers ask, there is a pause between two readings.
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

  /** Reads the list of MCP tasks for as long as something is missing in it; nothing waits for that. */
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

  /** Reads the first pages of the list of MCP tasks. An entry that changes meanwhile is in two of them. */
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

  /** Asks servers for the tasks that only they know; one question at a time. */
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

  /** Reads the grants; nothing waits for that. What is said meanwhile is newer than the list. */
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

  /** Reads the answers about tools that are remembered; nothing waits for that. */
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

  /** Inspects a server; nothing waits for that. However often it changes, there is a pause in between. */
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

  /** Takes a notification about a task, and mends what it shows to be missing. */
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

  /** Typing makes many drafts; the newest is kept a moment after it. The view has it until then. */
  function saveDraft(taskId: string, askId: string, draft: Draft | undefined): void {
    clearTimeout(unsaved.get(askId));
    unsaved.set(
      askId,
      setTimeout(() => {
        unsaved.delete(askId);
        attempt(async () => {
          try {
            await aboutAsk({ taskId, askId }, () =>
              request()("ask/draft", { taskId, askId, draft: draft ?? null }),
            );
            saved.set(askId, JSON.stringify(draft));
          } catch (error) {
            // It stays in the view, and the task says where it is.
            if (codeOf(error) !== ErrorCode.TaskElsewhere) throw error;
          }
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
      // The ask is not open any more, although it looks so here: what is here cannot be right.
      const code = codeOf(error);
      if (
        code === ErrorCode.AskSettled ||
        code === ErrorCode.UnknownAsk ||
        code === ErrorCode.TaskElsewhere
      ) {
        hear({ type: "taskDoubted", taskId });
      }
      throw error;
    }
  }

  async function takeOver(taskId: string): Promise<void> {
    await request()("task/takeOver", { taskId });
    // No event tells of drafts.
    const result = await request()("task/open", { taskId, after: 0 });
    for (const { body } of result.messages ?? []) {
      if (body.type !== "ask" || body.draft === undefined) continue;
      // What the other window kept is newer than what was typed here, unless it is the same that this one kept.
      if (JSON.stringify(body.draft) !== saved.get(body.askId))
        view.setDraft(body.askId, undefined);
    }
    dispatch({ type: "taskRead", taskId, result });
    hear({ type: "inboxDoubted" });
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

  /** Waits for the end of a call, for as long as its task is open here. */
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
    async takeOver(taskId) {
      try {
        await takeOver(taskId);
      } catch (error) {
        dispatch({ type: "failed", message: messageOf(error) });
      }
    },
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
        // Placed, refused, or too late: what the list shows of it is not so any more.
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
          // Its state says why, in the place where it was started.
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
    listModels: (serverName) =>
      attempt(async () => {
        const { models = [] } = await request()("model/list", { serverName });
        dispatch({ type: "modelsListed", serverName, models });
      }),
    restartSidecar: () => attempt(() => request()("host/restartSidecar")),
    showLog: () => attempt(() => request()("host/showLog")),
    openConfiguration: (position) => attempt(() => request()("host/openConfiguration", position)),
    importServers: () => attempt(() => request()("host/importServers")),
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
          pages = [],
        } = await next.request("host/ready");
        dispatch({ type: "hostReady", imports, picksFiles });
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

/** The length of a page that reaches a message so many back, and some that give it context. */
function pageTo(back: number): number {
  return Math.min(Math.max(back + 50, pageSize.least), pageSize.most);
}

/** A server's resources and their templates change under one name. */
function kindsOf(list: ListKind): readonly OfferKind[] {
  return list === "resources" ? ["resources", "templates"] : [list];
}

/** The open task where it has to be read, and reading it did not just fail. */
function unread(state: State) {
  const open = state.conversation;
  if (open?.behind === undefined || open.failure !== undefined) return undefined;
  return { taskId: open.taskId, after: open.behind };
}

/** Says whether something can be begun in the open task. */
export function takesCalls(open: Conversation | undefined): open is Conversation {
  return open !== undefined && open.task?.closed !== true && open.task?.elsewhere === undefined;
}

/** Says whether there is an open task which the sidecar still knows. */
function isListed({ tasks = [], conversation }: State): boolean {
  return tasks.some(({ id }) => id === conversation?.taskId);
}

/** The task that was open last; else one that waits for the person; else the newest that is open. */
function firstTask({ tasks = [] }: State, lastOpen: string | undefined): string | undefined {
  const first =
    tasks.find(({ id }) => id === lastOpen) ??
    tasks.find(({ openAsks, elsewhere }) => openAsks > 0 && elsewhere === undefined) ??
    tasks.find(({ closed }) => closed !== true);
  return first?.id;
}

function codeOf(error: unknown): number | undefined {
  return error instanceof RpcError ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
