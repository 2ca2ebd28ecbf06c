import { setTimeout as sleep } from "node:timers/promises";

/** How long anything in a story may take to come, in milliseconds. Only what hangs reaches it, on a busy machine, too. */
export const waitLimit = 90_000;

/**
 * Calls `look` every 100 ms until it returns something, and returns that. It is for changes without an event, such as the
 * start of a process.
 */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + waitLimit;
  do {
    const seen = await look();
    if (seen !== undefined) return seen;
    await sleep(100);
  } while (performance.now() < end);
  throw new Error(`${what} did not come in ${waitLimit / 1000} s`);
}
