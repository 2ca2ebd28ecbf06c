// Requests of the server to a client with a session, and their answers.
// @ts-check
import { notification, RpcError } from "./rpc.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./service.mjs").Id} Id
 *
 * @typedef {object} Pending
 * @property {(result: Json) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {Id | undefined} about
 */

export class ClientRequests {
  #last = 0;
  /** @type {Map<Id, Pending>} */
  #pending = new Map();
  #send;

  /** @param {import("./service.mjs").Send} send */
  constructor(send) {
    this.#send = send;
  }

  /**
   * Sends a request. The answer is rejected with an RpcError when the client answers with one, and
   * with another error when there will be no answer.
   * @param {string} method
   * @param {Json} params
   * @param {Id} [about] the client's request that this one belongs to
   * @param {Id} [id]
   */
  send(method, params, about, id = `server-${++this.#last}`) {
    /** @type {Promise<Json>} */
    const answer = new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, about });
    });
    this.#send({ jsonrpc: "2.0", id, method, params }, about);
    return { id, answer };
  }

  /**
   * Takes a response; one to no request of ours is ignored.
   * @param {Json} response
   */
  settle(response) {
    const pending = this.#pending.get(response["id"]);
    this.#pending.delete(response["id"]);
    const { error, result } = response;
    if (error !== undefined) {
      pending?.reject(new RpcError(Number(error?.code), String(error?.message), error?.data));
    } else {
      pending?.resolve(result ?? {});
    }
  }

  /**
   * Tells the client that its answer is no longer needed.
   * @param {Id} id
   */
  withdraw(id) {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    pending.reject(new Error("withdrawn"));
    this.#send(
      notification("notifications/cancelled", { requestId: id, reason: "no longer needed" }),
      pending.about,
    );
  }

  close() {
    for (const { reject } of this.#pending.values()) reject(new Error("the session has ended"));
    this.#pending.clear();
  }
}
