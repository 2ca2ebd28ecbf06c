// What the connections of a process share.
// @ts-check
import { ToolHost } from "../tasks/host.mjs";
import { Database } from "./database.mjs";
import { answer, capabilities, instructions } from "./offer.mjs";
import { deleteInactiveUsers } from "./tools/delete.mjs";
import { countInactiveUsers, findInactiveUsers, listAudit } from "./tools/find.mjs";
import { undoDelete } from "./tools/undo.mjs";

/** @typedef {import("../kit/rpc.mjs").Json} Json */

const serverInfo = { name: "smart-database", title: "Smart database", version: "1.0.0" };

export class SmartDatabase extends ToolHost {
  #database;

  /**
   * Opens the database; throws an Error that says what to do about it.
   * @param {import("./options.mjs").Options} options
   */
  constructor(options) {
    const { era, legacyVersion } = options;
    const database = new Database(options.database, options.users);
    const tools = [
      countInactiveUsers(database),
      findInactiveUsers(database),
      deleteInactiveUsers(database, options),
      undoDelete(database),
      listAudit(database),
    ];
    const { stateKey } = database;
    super(
      { serverInfo, era, legacyVersion, stateKey, instructions, capabilities },
      new Map(tools.map((tool) => [tool.name, tool])),
      options.store,
    );
    this.#database = database;
  }

  /**
   * @override
   * @param {string} method
   * @param {Json} params
   */
  answer(method, params) {
    return answer(this.#database, method, params);
  }

  /** @override A deletion that has not ended did not happen. */
  async close() {
    await super.close();
    this.#database.close();
  }
}
