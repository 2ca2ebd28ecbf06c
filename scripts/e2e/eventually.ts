import { setTimeout as sleep } from "node:timers/promises";

/**
 * Calls `look` every 100 ms until it returns something, and returns that. It is for changes without an event, such as the
 * start of a process. The bound is long, because a slow machine must not fail a test.
 */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + 90_000;
  do {
    const seen = await look();
    if (seen !== undefined) return seen;
    await sleep(100);
  } while (performance.now() < end);
  throw new Error(`${what} did not come in 90 s`);
}
