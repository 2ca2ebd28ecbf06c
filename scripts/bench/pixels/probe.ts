// What the benchmark runs in the panel's page. A function that is sent there cannot use others of this file.

/** Moments of an ask, in milliseconds since the page's beginning. */
export interface Seen {
  /** The frame with the card is painted. */
  readonly painted: number;
  readonly clicked: number;
}

/** Begins to watch for the card with a question, which it submits as soon as the card takes answers. */
export function watchFor(question: string): void {
  const until = <T>(look: () => T | undefined | false): Promise<T> =>
    new Promise((resolve) => {
      const observer = new MutationObserver(check);
      const what = { subtree: true, childList: true, characterData: true, attributes: true };
      observer.observe(document, what);
      check();
      function check(): void {
        const seen = look();
        if (seen === undefined || seen === false) return;
        observer.disconnect();
        resolve(seen);
      }
    });
  const card = () => document.querySelector(".docked:not([hidden]) .ask-card");
  const shown = until(() => card()?.textContent.includes(question));
  const answer = async (): Promise<Seen> => {
    await shown;
    // A message that is posted within a frame comes after its painting.
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(undefined);
    });
    const painted = performance.now();
    const enabled = ".ask-actions .primary[aria-disabled=false]";
    const button = await until(() => card()?.querySelector<HTMLElement>(enabled) ?? false);
    // The frame with the enabled button is over, and the answer falls anywhere between two frames.
    await new Promise((resolve) => setTimeout(resolve, 50 + 17 * Math.random()));
    const gone = until(() => card() === null);
    const clicked = performance.now();
    button.click();
    await gone;
    return { painted, clicked };
  };
  Object.assign(window, { benchSeen: answer() });
}

/** The moments of the card, once it is answered and gone. */
export async function seen(): Promise<Seen> {
  return await (Reflect.get(window, "benchSeen") as Promise<Seen>);
}

/** Runs in each page before its scripts: waits for the frame with the conversation, or the list of tasks, and the composer. */
export function watchLoad(): void {
  const load = new Promise<void>((resolve) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector(".rows > li, .task-choice > li") === null) return;
      if (document.querySelector("textarea") === null) return;
      observer.disconnect();
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve();
        port2.postMessage(undefined);
      });
    });
    observer.observe(document, { subtree: true, childList: true });
  });
  Object.assign(window, { benchLoad: load });
}

/** Waits until this page is complete. Returns when it first painted something, in milliseconds since its beginning. */
export async function loaded(): Promise<number> {
  await (Reflect.get(window, "benchLoad") as Promise<void>);
  return await new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) {
        if (name === "first-contentful-paint") resolve(startTime);
      }
    }).observe({ type: "paint", buffered: true });
  });
}
