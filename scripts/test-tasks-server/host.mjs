// What the connections of a process share.
// @ts-check
import { ConfirmPages } from "./confirm.mjs";
import { Jobs } from "./jobs.mjs";
import { TaskStore } from "./store.mjs";
import { allTools } from "./tools.mjs";

/** @typedef {import("./options.mjs").Options} Options */

export class Host {
  #closing = new AbortController();
  /** Aborts when the process is about to end. */
  closing = this.#closing.signal;

  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.pages = new ConfirmPages();
    this.tools = allTools(this.pages, options.confirmWaitMs);
    this.jobs = new Jobs(new TaskStore(options.store), this.tools, options);
  }

  /** Stops the work; tasks that have a file stay in it. */
  async close() {
    this.#closing.abort();
    this.jobs.close();
    await this.pages.close();
  }
}
