// What the connections of a process share.
// @ts-check
import { Jobs } from "../tasks/jobs.mjs";
import { LegacySession } from "../tasks/legacy.mjs";
import { serveModern } from "../tasks/modern.mjs";
import { TaskStore } from "../tasks/store.mjs";
import { Database } from "./database.mjs";
import { answer, capabilities, instructions } from "./offer.mjs";
import { deleteInactiveUsers } from "./tools/delete.mjs";
import { countInactiveUsers, findInactiveUsers, listAudit } from "./tools/find.mjs";
import { undoDelete } from "./tools/undo.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("../kit/service.mjs").Service} Service
 * @typedef {import("../tasks/served.mjs").Served} Served
 */

/** The tasks of this server, as of the other one with tasks. */
const keep = { ttlMs: 3_600_000, pollIntervalMs: 500 };

/**
 * @implements {Service}
 * @implements {Served}
 */
export class Host {
  #closing = new AbortController();
  #database;
  closing = this.#closing.signal;
  serverInfo = { name: "smart-database", title: "Smart database", version: "1.0.0" };
  capabilities = capabilities;
  instructions = instructions;

  /**
   * Opens the database; throws an Error that says what to do about it.
   * @param {import("./options.mjs").Options} options
   */
  constructor(options) {
    this.era = options.era;
    this.legacyVersion = options.legacyVersion;
    const database = new Database(options.database, options.users);
    this.#database = database;
    this.stateKey = database.stateKey;
    const tools = [
      countInactiveUsers(database),
      findInactiveUsers(database),
      deleteInactiveUsers(database, options),
      undoDelete(database),
      listAudit(database),
    ];
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.jobs = new Jobs(new TaskStore(options.store), this.tools, keep);
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

  /**
   * @param {string} method
   * @param {Json} params
   */
  answer(method, params) {
    return answer(this.#database, method, params);
  }

  /** Stops the work. A deletion that has not ended did not happen; tasks that have a file stay in it. */
  async close() {
    this.#closing.abort();
    this.jobs.close();
    this.#database.close();
  }
}
