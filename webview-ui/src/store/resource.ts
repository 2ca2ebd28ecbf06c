import { messageOf } from "../link/client.ts";
import type { Change, State } from "./state.ts";
import type { Store } from "./store.ts";

/** The state of reading a list or another resource. */
export interface Resource {
  readonly reading: boolean;
  /** It has changed since the last reading, so it must be read again. */
  readonly missed: boolean;
  /** Why the last reading failed. */
  readonly failure: string | undefined;
}

export const notRead: Resource = { reading: false, missed: false, failure: undefined };

/** A resource, and how to read it. */
export interface ResourceOptions<R extends Resource, T> {
  readonly get: (state: State) => R;
  readonly put: (resource: R) => Change;
  readonly read: () => Promise<T>;
  /** Applies a result. `known` has the notifications that arrived during the reading. */
  readonly take: (known: R, read: T) => R;
  /** Further changes at the start of a reading. */
  readonly start?: Partial<R>;
  /** Further changes after a failed reading. */
  readonly fail?: Partial<R>;
  /** The shortest pause between two readings, in milliseconds. */
  readonly pauseMs?: number;
}

/** Reads a resource, at most once at a time. Nothing waits for it. */
export interface Reader {
  /** Reads the resource until it is up to date. Does nothing while a reading runs. */
  readMissing(): void;
  /** Reads the resource, or reads it once more after the running reading. */
  refresh(): void;
}

export function createReader<R extends Resource, T>(
  store: Store,
  options: ResourceOptions<R, T>,
): Reader {
  const { get, put, read, take, start, fail, pauseMs } = options;
  let running = false;
  const change = (part: Partial<Resource>, more?: Partial<R>) =>
    store.update((state) => put({ ...get(state), ...more, ...part })(state));

  const readOnce = async (): Promise<void> => {
    change({ reading: true, missed: false }, start);
    try {
      const result = await read();
      store.update((state) => {
        const known = take(get(state), result);
        return put({ ...known, reading: false, failure: undefined })(state);
      });
    } catch (error) {
      change({ reading: false, failure: messageOf(error) }, fail);
    }
  };

  const readMissing = (): void => {
    if (running || !get(store.state).missed) return;
    running = true;
    void (async () => {
      while (get(store.state).missed) {
        await readOnce();
        if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      running = false;
    })();
  };

  return {
    readMissing,
    refresh() {
      change({ missed: true });
      readMissing();
    },
  };
}
