// A server with tools, some of which become tasks: what its connections share.
// @ts-check
import { randomBytes } from "node:crypto";
import { serveModern } from "../kit/modern.mjs";
import { ConfirmPages } from "./confirm.mjs";
import { Jobs } from "./jobs.mjs";
import { openLegacy } from "./legacy.mjs";
import { answerModern } from "./modern.mjs";
import { legacyVersion, serverInfo } from "./rpc.mjs";
import { TaskStore } from "./store.mjs";
import { allTools } from "./tools.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("../kit/service.mjs").Service} Service
 *
 * @typedef {object} About what a server with tools says of itself
 * @property {Json} serverInfo
 * @property {Service["era"]} era
 * @property {string} legacyVersion the revision of the sessions; one before 2025-11-25 has no tasks
 * @property {Uint8Array} stateKey signs what a call keeps with a client of 2026-07-28
 * @property {string} [instructions] how to use the server, for the client's model
 * @property {Json} [capabilities] besides tools and tasks
 */

/** @implements {Service} */
export class ToolHost {
  #closing = new AbortController();
  /** Aborts when the process is about to end. */
  closing = this.#closing.signal;
  /** @type {ConfirmPages | undefined} */
  pages;

  /**
   * @param {About} about
   * @param {Map<string, import("./tools/tool.mjs").Tool>} tools
   * @param {string | undefined} store the folder of the tasks
   * @param {number} [pollIntervalMs] what a client is told
   */
  constructor(about, tools, store, pollIntervalMs = 500) {
    this.about = about;
    this.era = about.era;
    this.legacyVersion = about.legacyVersion;
    this.tools = tools;
    this.jobs = new Jobs(new TaskStore(store), tools, pollIntervalMs);
  }

  /** @param {import("../kit/service.mjs").Send} send */
  open(send) {
    return openLegacy(this, send);
  }

  /**
   * @param {Json} request
   * @param {(message: Json) => void} notify
   * @param {AbortSignal} signal
   */
  serve(request, notify, signal) {
    return serveModern(request, signal, (method, params, capabilities) =>
      answerModern(this, { id: request["id"], method, params, capabilities, notify, signal }),
    );
  }

  /**
   * The result of a request that is about neither tools nor tasks; undefined for an unknown method.
   * @param {string} _method
   * @param {Json} _params
   * @returns {Json | undefined}
   */
  answer(_method, _params) {
    return undefined;
  }

  /** Stops the work; tasks that have a file stay in it. */
  async close() {
    this.#closing.abort();
    this.jobs.close();
    await this.pages?.close();
  }
}

/** The example server for tasks. */
export class TasksServer extends ToolHost {
  /** @param {import("./options.mjs").Options} options */
  constructor(options) {
    const pages = new ConfirmPages();
    // No tool asks in a call that is no task, so no state outlives this process.
    const about = { serverInfo, legacyVersion, era: options.era, stateKey: randomBytes(32) };
    super(about, allTools(pages), options.store, options.pollIntervalMs);
    this.pages = pages;
  }
}
