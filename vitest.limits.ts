/** The limit of one wait in a test. Only what hangs reaches it: a busy machine must not fail a test. */
export const waitLimitMs = 30_000;

/** The limits of every project's tests. A test may wait several times. */
export const limits = {
  // Vitest leaves one processor to itself, which is half of a machine with two.
  maxWorkers: "100%",
  testTimeout: 4 * waitLimitMs,
  hookTimeout: 4 * waitLimitMs,
  expect: { poll: { timeout: waitLimitMs, interval: 20 } },
};
