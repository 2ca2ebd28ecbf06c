import type { ViewOfPanel } from "@assent/protocol/host";
import type { State } from "./state.ts";

/** Where it is kept what the panel's page last looked like. */
const viewKey = "panel.view";

/** More is left to VS Code, which reads all that an extension keeps at once. In UTF-16 code units. */
const mostKept = 512 * 1024;

/**
 * Keeps what a page of the panel would have VS Code keep. VS Code itself writes that down seconds later, in a
 * browser up to five and else at its end, and a window that is reloaded before then, or crashes, is shown an older
 * one. What an extension keeps is written at once.
 */
export class KeptView {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  /** What was kept last, in this life or an earlier one; undefined where nothing was. */
  get(): unknown {
    return this.#state.get(viewKey);
  }

  async keep({ view }: ViewOfPanel): Promise<null> {
    if (JSON.stringify(view).length <= mostKept) await this.#state.update(viewKey, view);
    return null;
  }
}
