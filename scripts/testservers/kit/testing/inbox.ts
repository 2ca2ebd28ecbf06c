// What a client received, in order, for tests that wait for a message.

/** A JSON-RPC message of a test. Its shape is what the test says. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads the members that it expects
export type Message = Record<string, any>;

/** Messages that were not read yet, and the readers that wait for one. */
export class Inbox {
  readonly #messages: Message[] = [];
  readonly #waiting = new Set<() => void>();

  add(message: Message): void {
    this.#messages.push(message);
    for (const look of [...this.#waiting]) look();
  }

  /** Takes the first message that fits, now or when it comes; the test's own timeout is the limit. */
  async take(fits: (message: Message) => boolean): Promise<Message> {
    return await new Promise((resolve) => {
      const look = (): void => {
        const index = this.#messages.findIndex(fits);
        const [message] = index < 0 ? [] : this.#messages.splice(index, 1);
        if (message === undefined) return;
        this.#waiting.delete(look);
        resolve(message);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** The messages that were not taken. */
  get rest(): readonly Message[] {
    return this.#messages;
  }
}
