// What the connections of a process share.
// @ts-check
import { randomBytes } from "node:crypto";
import { ConfirmPages } from "./confirm.mjs";
import { Jobs } from "./jobs.mjs";
import { LegacySession } from "./legacy.mjs";
import { serveModern } from "./modern.mjs";
import { legacyVersion, serverInfo } from "./rpc.mjs";
import { TaskStore } from "./store.mjs";
import { allTools } from "./tools.mjs";

/**
 * @typedef {import("./options.mjs").Options} Options
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("../kit/service.mjs").Service} Service
 * @typedef {import("./served.mjs").Served} Served
 */

/**
 * @implements {Service}
 * @implements {Served}
 */
export class Host {
  #closing = new AbortController();
  /** Aborts when the process is about to end. */
  closing = this.#closing.signal;
  serverInfo = serverInfo;
  // No tool asks in a call that is no task, so no state outlives this process.
  stateKey = randomBytes(32);

  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.era = options.era;
    this.legacyVersion = legacyVersion;
    this.pages = new ConfirmPages();
    this.tools = allTools(this.pages, options.confirmWaitMs);
    this.jobs = new Jobs(new TaskStore(options.store), this.tools, options);
  }

  /** @param {import("../kit/service.mjs").Send} send */
  open(send) {
    return new LegacySession(this, send);
  }

  /**
   * @param {Json} request
   * @param {(message: Json) => void} notify
   * @param {AbortSignal} signal
   */
  serve(request, notify, signal) {
    return serveModern(this, request, notify, signal);
  }

  /** Stops the work; tasks that have a file stay in it. */
  async close() {
    this.#closing.abort();
    this.jobs.close();
    await this.pages.close();
  }
}
