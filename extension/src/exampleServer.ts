import type { State } from "./state.ts";

const key = "exampleServer";

/** Whether the person added the example server to this workspace. */
export class ExampleServer {
  readonly #state: State;
  readonly #changed: () => Promise<void>;

  /** `changed` informs the sidecar. */
  constructor(state: State, changed: () => Promise<void>) {
    this.#state = state;
    this.#changed = changed;
  }

  get added(): boolean {
    return this.#state.get(key) === true;
  }

  /** Adds or removes the server. Resolves when the sidecar has been informed. */
  async set({ added }: { readonly added: boolean }): Promise<null> {
    await this.#state.update(key, added ? true : undefined);
    await this.#changed();
    return null;
  }
}
