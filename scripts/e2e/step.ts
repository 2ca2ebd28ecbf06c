/** Runs one step of a story and says how it went. */
export async function step<T>(title: string, run: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const say = (verdict: string): void => {
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${verdict} ${seconds.padStart(5)} s  ${title}`);
  };
  try {
    const result = await run();
    say("  ok  ");
    return result;
  } catch (error) {
    say("  FAIL");
    throw error;
  }
}
