import type { ViewOfPanel } from "@assent/protocol/host";
import type { State } from "./state.ts";

/** The key under which the state of the panel's page is stored. */
const viewKey = "panel.view";

/**
 * The largest state to store, in UTF-16 code units. VS Code reads everything that an extension stores at once, so it
 * stores larger states itself.
 */
const mostKept = 512 * 1024;

/**
 * Stores the state of the panel's page. VS Code writes a webview's state only seconds later, in a browser after up to
 * five and otherwise at its end. A window that is reloaded or crashes before that would get an older state. An
 * extension's own state is written at once.
 */
export class KeptView {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  /** The last stored state, of this session or an earlier one; undefined if there is none. */
  get(): unknown {
    return this.#state.get(viewKey);
  }

  async keep({ view }: ViewOfPanel): Promise<null> {
    if (JSON.stringify(view).length <= mostKept) await this.#state.update(viewKey, view);
    return null;
  }
}
