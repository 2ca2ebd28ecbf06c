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
  type UnclaimedAsk,
} from "@assent/protocol";
import { type Client, codeOf } from "../link/client.ts";
import type { Draft } from "../view/viewState.ts";
import { createReader, notRead, type Resource } from "./resource.ts";
import { type Change, set } from "./state.ts";
import type { Store } from "./store.ts";

export interface AsksState {
  readonly inbox: Inbox;
}

/** The open asks of every task. */
export interface Inbox extends Resource {
  /** The oldest first; absent until they were listed. */
  readonly entries: readonly OpenAsk[] | undefined;
  /** The requests that no task has until the person places them, the oldest first. */
  readonly unclaimed: readonly UnclaimedAsk[];
  /** The servers from which everything that they ask for is declined. */
  readonly declined: readonly DeclinedServer[];
  /** There are more than are listed. */
  readonly truncated: boolean;
  /** The other open workspaces whose asks are left out: they did not answer. */
  readonly notAnswering: readonly string[];
}

export const emptyInbox: Inbox = {
  ...notRead,
  entries: undefined,
  unclaimed: [],
  declined: [],
  truncated: false,
  notAnswering: [],
};

export const initialAsks: AsksState = { inbox: emptyInbox };

/** How long a draft waits for the next keystroke before it is saved, in milliseconds. */
const draftPause = 300;

/** The pause between two readings of the list of open asks, in milliseconds. */
const inboxPause = 100;

/** Has the list of open asks read again. */
export const inboxInvalidated: Change = (state) => ({
  ...state,
  inbox: { ...state.inbox, missed: true },
});

/** Takes in an event about a task's asks. The task given is the one from before the event. */
export function takeAskEvent(
  inbox: Inbox,
  { number, openAsks, event }: TaskEventParams,
  known: Task | undefined,
): Inbox {
  if (known !== undefined && number <= known.lastNumber) return inbox;
  const changed =
    openAsks !== (known?.openAsks ?? 0) ||
    event.type === "askSettled" ||
    // Between two numbers, one may have come and another gone.
    (known !== undefined && number > known.lastNumber + 1);
  return changed ? { ...inbox, missed: true } : inbox;
}

export type AsksActions = ReturnType<typeof createAsks>["actions"];

/** `readAgain` has a task read anew that turned out to be out of date. */
export function createAsks(store: Store, readAgain: (taskId: string) => void) {
  const { request } = store;
  /** The drafts that wait to be saved, by ask. */
  const unsaved = new Map<string, ReturnType<typeof setTimeout>>();
  const inbox = createReader(store, {
    get: (state) => state.inbox,
    put: (known) => set({ inbox: known }),
    read: () => request("ask/list"),
    take(known, result) {
      const { asks: entries = [], unclaimed = [], declined = [] } = result;
      const { truncated = false, notAnswering = [] } = result;
      return { ...known, entries, unclaimed, declined, truncated, notAnswering };
    },
    // Servers may ask fast.
    pauseMs: inboxPause,
  });
  store.afterEvents(inbox.readMissing);

  async function aboutAsk<T>({ taskId }: OpenAskURLParams, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // The ask is settled although it looks open here, so this page is behind.
      const code = codeOf(error);
      if (code === ErrorCode.AskSettled || code === ErrorCode.UnknownAsk) readAgain(taskId);
      throw error;
    }
  }

  return {
    listen(client: Client): void {
      const invalidate = () => store.onEvent(inboxInvalidated);
      client.onNotification("ask/unclaimedChanged", invalidate);
      client.onNotification("ask/othersChanged", invalidate);
      client.onNotification("ask/declinedChanged", invalidate);
    },
    actions: {
      /** Reads the open asks of all tasks again. */
      listOpenAsks: (): void => store.onEvent(inboxInvalidated),
      /**
       * Places a question that no task has, or dismisses it. Resolves to its place. Rejects with an {@link RpcError} if
       * it is settled already, or cannot be placed there.
       */
      async claimAsk(params: ClaimAskParams): Promise<ClaimAskResult> {
        try {
          return await request("ask/claim", params);
        } finally {
          // Placed, refused, or too late: the list is out of date.
          store.onEvent(inboxInvalidated);
        }
      },
      /** Answers an ask. Resolves once the answer is kept; rejects with an {@link RpcError} if it is refused. */
      async answer(params: AskResponseParams): Promise<Outcome> {
        const { outcome } = await aboutAsk(params, () => request("askResponse", params));
        store.view.setDraft(params.askId, undefined);
        return outcome;
      },
      /**
       * Opens the page of an ask. The person has just consented to its whole URL. Resolves to whether the page was opened;
       * rejects as an answer does.
       */
      async openAskUrl(params: OpenAskURLParams): Promise<boolean> {
        const { opened } = await aboutAsk(params, () => request("ask/openUrl", params));
        return opened;
      },
      /**
       * Saves the newest draft of an ask on disk a moment after the last keystroke; undefined removes it. The view's state
       * has it until then.
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
