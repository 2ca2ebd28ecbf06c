import type { Client } from "../link/client.ts";
import { saved } from "./fold.ts";
import type { Conversation } from "./openTask.ts";
import { type Change, set } from "./state.ts";
import type { Store } from "./store.ts";

export interface StorageState {
  /** Why tasks are not stored on disk; undefined while they are. */
  readonly storageFailure: string | undefined;
  /** What happened to the store after a failure or damage; undefined if nothing did. */
  readonly storageNote: { readonly message: string; readonly dismissed: boolean } | undefined;
}

declare module "./state.ts" {
  interface State extends StorageState {}
}

export const initialStorage: StorageState = { storageFailure: undefined, storageNote: undefined };

/** Notes what happened to the store. The sidecar repeats it at every reading, and the person reads it once. */
export function storageNoted(message: string): Change {
  return (state) =>
    state.storageNote?.message === message
      ? state
      : { ...state, storageNote: { message, dismissed: false } };
}

export const storageNoteDismissed: Change = (state) =>
  state.storageNote === undefined
    ? state
    : { ...state, storageNote: { ...state.storageNote, dismissed: true } };

export function storageRecovered(message: string): Change {
  return (state) => ({
    ...state,
    conversation: state.conversation && recovered(state.conversation),
    storageFailure: undefined,
    storageNote: { message, dismissed: false },
  });
}

/** Notes that everything is on disk, including buffered changes. */
function recovered(open: Conversation): Conversation {
  return {
    ...open,
    messages: saved(open.messages),
    buffered: open.buffered.map((event) =>
      event.type === "taskEvent"
        ? { ...event, params: { ...event.params, unsaved: false } }
        : event,
    ),
  };
}

export type StorageActions = ReturnType<typeof createStorage>["actions"];

export function createStorage(store: Store) {
  return {
    listen(client: Client): void {
      client.onNotification("storage/failed", ({ message }) =>
        store.update(set({ storageFailure: message })),
      );
      client.onNotification("storage/recovered", ({ message }) =>
        store.update(storageRecovered(message)),
      );
    },
    actions: {
      dismissStorageNote: (): void => store.update(storageNoteDismissed),
    },
  };
}
