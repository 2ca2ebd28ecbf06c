import type { OpenURLParams, OpenURLResult } from "@assent/protocol";
import type { PageDoneParams, PageToOpen } from "@assent/protocol/host";
import type { CancellationToken } from "vscode-jsonrpc/node";
import { webUrl } from "../../../extension/src/webUrl.ts";

/**
 * The pages that the sidecar wants opened. A browser opens only what the person clicks, so each is a
 * link in the panel until somebody clicked it or put it away.
 */
export class Pages {
  readonly #onChange: (pages: readonly PageToOpen[]) => void;
  readonly #open = new Map<number, { page: PageToOpen; settle: (opened: boolean) => void }>();
  #lastId = 0;

  constructor(onChange: (pages: readonly PageToOpen[]) => void) {
    this.#onChange = onChange;
  }

  get all(): readonly PageToOpen[] {
    return [...this.#open.values()].map(({ page }) => page);
  }

  async open({ url, reason }: OpenURLParams, token: CancellationToken): Promise<OpenURLResult> {
    const page = { id: ++this.#lastId, url: webUrl(url), reason };
    const opened = await new Promise<boolean>((settle) => {
      this.#open.set(page.id, { page, settle });
      this.#onChange(this.all);
      token.onCancellationRequested(() => this.done({ id: page.id, opened: false }));
    });
    return { opened };
  }

  /** The first word about a page counts: two tabs may show the same link. */
  done({ id, opened }: PageDoneParams): void {
    const waiting = this.#open.get(id);
    if (waiting === undefined) return;
    this.#open.delete(id);
    this.#onChange(this.all);
    waiting.settle(opened);
  }

  /** Puts every page away: whoever wanted them has gone. */
  clear(): void {
    for (const id of [...this.#open.keys()]) this.done({ id, opened: false });
  }
}
