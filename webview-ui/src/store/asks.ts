import {
  type AskResponseParams,
  type ClaimAskParams,
  type ClaimAskResult,
  type DeclinedServer,
  ErrorCode,
  type ExtendAskParams,
  type OpenAsk,
  type OpenAskURLParams,
  type Outcome,
  type StopSamplingParams,
  type Task,
  type TaskEventParams,
  type UnattributedAsk,
} from "@assent/protocol";
import { type Client, codeOf, messageOf } from "../link/client.ts";
import type { Draft } from "../view/viewState.ts";
import { createReader, notRead, type Resource } from "./resource.ts";
import { type Change, set } from "./state.ts";
import type { Store } from "./store.ts";

export interface AsksState {
  readonly inbox: Inbox;
}

declare module "./state.ts" {
  interface State extends AsksState {}
}

/** The open asks of all tasks. */
export interface Inbox extends Resource {
  /** Oldest first; undefined until they were listed. */
  readonly entries: readonly OpenAsk[] | undefined;
  /** The requests that wait for the person to assign them, oldest first. */
  readonly unattributed: readonly UnattributedAsk[];
  /** The servers for which all requests are declined. */
  readonly declined: readonly DeclinedServer[];
  /** There are more than the listed ones. */
  readonly truncated: boolean;
  /** The other open workspaces that did not answer, so that their asks are missing. */
  readonly notAnswering: readonly string[];
}

export const emptyInbox: Inbox = {
  ...notRead,
  entries: undefined,
  unattributed: [],
  declined: [],
  truncated: false,
  notAnswering: [],
};

export const initialAsks: AsksState = { inbox: emptyInbox };

/** The pause after a key before a draft is saved, in milliseconds. */
const draftPause = 300;

/** The pause between two readings of the list of open asks, in milliseconds. */
const inboxPause = 100;

/** Requests that the list of open asks be read again. */
const inboxInvalidated: Change = (state) => ({
  ...state,
  inbox: { ...state.inbox, missed: true },
});

/** Applies an event about a task's asks. The given task is the one before the event. */
export function takeAskEvent(
  inbox: Inbox,
  { number, openAsks, event }: TaskEventParams,
  known: Task | undefined,
): Inbox {
  if (known !== undefined && number <= known.lastNumber) return inbox;
  const changed =
    openAsks !== (known?.openAsks ?? 0) ||
    event.type === "askSettled" ||
    // If the number is unchanged, one ask may have come and another gone.
    (known !== undefined && number > known.lastNumber + 1);
  return changed ? { ...inbox, missed: true } : inbox;
}

export type AsksActions = ReturnType<typeof createAsks>["actions"];

/** `readAgain` rereads an outdated task. */
export function createAsks(store: Store, readAgain: (taskId: string) => void) {
  const { request } = store;
  /** The drafts that are not saved yet, by ask. */
  const unsaved = new Map<string, ReturnType<typeof setTimeout>>();
  const inbox = createReader(store, {
    get: (state) => state.inbox,
    put: (known) => set({ inbox: known }),
    read: () => request("ask/list"),
    take(known, result) {
      const { asks: entries = [], unattributed = [], declined = [] } = result;
      const { truncated = false, notAnswering = [] } = result;
      return { ...known, entries, unattributed, declined, truncated, notAnswering };
    },
    // Servers may ask frequently.
    pauseMs: inboxPause,
  });
  store.afterEvents(inbox.readMissing);

  async function aboutAsk<T>({ taskId }: OpenAskURLParams, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // The ask is settled, but looks open here, so this page is outdated.
      const code = codeOf(error);
      if (code === ErrorCode.AskSettled || code === ErrorCode.UnknownAsk) readAgain(taskId);
      throw error;
    }
  }

  /**
   * Assigns an unattributed request to a task, or dismisses it. Resolves to its place, where its draft is now. Rejects
   * with an {@link RpcError} if it is settled already, or cannot be assigned there.
   */
  async function claimAsk(params: ClaimAskParams): Promise<ClaimAskResult> {
    try {
      const placed = await request("ask/claim", params);
      const draft = store.view.draft(params.id);
      store.view.setDraft(params.id, undefined);
      if (placed.askId !== undefined) store.view.setDraft(placed.askId, draft);
      return placed;
    } finally {
      // In every case the list is outdated.
      store.onEvent(inboxInvalidated);
    }
  }

  /** Answers an ask. Resolves once the answer is stored. Rejects with an {@link RpcError} if it is refused. */
  async function answer(params: AskResponseParams): Promise<Outcome> {
    const { outcome } = await aboutAsk(params, () => request("askResponse", params));
    store.view.setDraft(params.askId, undefined);
    return outcome;
  }

  /** Opens the page of an ask. Resolves to whether it was opened. Rejects as an answer does. */
  async function openAskUrl(params: OpenAskURLParams): Promise<boolean> {
    const { opened } = await aboutAsk(params, () => request("ask/openUrl", params));
    return opened;
  }

  /**
   * Assigns an unattributed request to a task, and settles it there: by an answer, or by opening its page. Resolves to its
   * place if that failed; undefined if nothing is left to do. Rejects as claimAsk does.
   */
  async function placeAndSettle(
    params: ClaimAskParams,
    how: Omit<AskResponseParams, "taskId" | "askId"> | "openPage",
  ): Promise<{ readonly taskId: string; readonly messageId: number } | undefined> {
    const { taskId, messageId, askId } = await claimAsk(params);
    if (taskId === undefined || messageId === undefined || askId === undefined) return undefined;
    try {
      if (how !== "openPage") await answer({ taskId, askId, ...how });
      else if (!(await openAskUrl({ taskId, askId }))) return { taskId, messageId };
      return undefined;
    } catch (error) {
      store.update(set({ failure: messageOf(error) }));
      return { taskId, messageId };
    }
  }

  return {
    listen(client: Client): void {
      const invalidate = () => store.onEvent(inboxInvalidated);
      client.onNotification("ask/unattributedChanged", invalidate);
      client.onNotification("ask/othersChanged", invalidate);
      client.onNotification("ask/declinedChanged", invalidate);
    },
    actions: {
      /** Reads the open asks of all tasks again. */
      listOpenAsks: (): void => store.onEvent(inboxInvalidated),
      claimAsk,
      placeAndSettle,
      answer,
      /**
       * Opens the page of an ask after the person has consented to its whole URL. Resolves to whether the page was
       * opened. Rejects as an answer does.
       */
      openAskUrl,
      /**
       * Saves the newest draft of an ask a moment after the last key; undefined removes it. Until then only the view's
       * state has it.
       */
      saveDraft(taskId: string, askId: string, draft: Draft | undefined): void {
        const save = () =>
          aboutAsk({ taskId, askId }, () =>
            request("ask/draft", { taskId, askId, draft: draft ?? null }),
          );
        clearTimeout(unsaved.get(askId));
        const timer = setTimeout(() => {
          unsaved.delete(askId);
          store.attempt(save);
        }, draftPause);
        unsaved.set(askId, timer);
      },
      /** Extends the time for an ask. Rejects with an {@link RpcError} if there is no more. */
      async extendAsk(params: ExtendAskParams): Promise<void> {
        await aboutAsk(params, () => request("ask/extend", params));
      },
      /** Ends "decline everything" for a server. Rejects with an {@link RpcError}. */
      async askAgain(serverName: string): Promise<void> {
        await request("ask/again", { serverName });
      },
      /** Stops a model. Rejects with an {@link RpcError} if there is no text to keep. */
      async stopSampling(params: StopSamplingParams): Promise<void> {
        await request("sampling/stop", params);
      },
    },
  };
}
