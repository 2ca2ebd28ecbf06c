import { messageOf } from "../link/client.ts";
import type { Change, State } from "./state.ts";
import type { Store } from "./store.ts";

/** How the reading of a list, or of another whole, stands. */
export interface Resource {
  readonly reading: boolean;
  /** It changed since it was asked for last: it must be read (again). */
  readonly missed: boolean;
  /** Why it could not be read the last time. */
  readonly failure: string | undefined;
}

export const notRead: Resource = { reading: false, missed: false, failure: undefined };

/** A resource, and how it is read. */
export interface ResourceOptions<R extends Resource, T> {
  readonly get: (state: State) => R;
  readonly put: (resource: R) => Change;
  readonly read: () => Promise<T>;
  /** Takes in what was read. What was said during the reading is in `known`. */
  readonly take: (known: R, read: T) => R;
  /** What else changes at the beginning of a reading. */
  readonly start?: Partial<R>;
  /** What else changes when a reading fails. */
  readonly fail?: Partial<R>;
  /** The least pause between two readings, in milliseconds. */
  readonly pauseMs?: number;
}

/** Reads a resource, at most one reading at a time. Nothing waits for it. */
export interface Reader {
  /** Reads the resource until nothing of it is missed. It does nothing while a reading runs. */
  readMissing(): void;
  /** Reads the resource, or reads it once more after the reading that runs. */
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
