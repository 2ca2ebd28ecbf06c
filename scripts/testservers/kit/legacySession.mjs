// A session of a revision before 2026-07-28: requests in both directions, which can be cancelled. A server adds what it
// answers.
// @ts-check
import { ClientRequests } from "./clientRequests.mjs";
import { codes, errorObject, failure, isObject, noMethod, RpcError, reply } from "./rpc.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./service.mjs").Id} Id
 * @typedef {import("./service.mjs").Session} Session
 *
 * How a request to the client ended: with its result, or with its error.
 * @typedef {{result: Json} | {error: Json}} Outcome
 *
 * @typedef {object} Server
 * @property {(params: Json) => Json} initialize the result of the first request
 * @property {(id: Id, method: string, params: Json, signal: AbortSignal) =>
 *   Json | undefined | Promise<Json | undefined>} answer the result of a later one; undefined if there is no such method
 * @property {ReadonlySet<string>} [waits] methods that only wait, so that they end with the stream of their request
 * @property {() => void} [close]
 */

/** @implements {Session} */
export class LegacySession {
  /** @type {Json | undefined} the client's; undefined before initialize */
  #capabilities;
  /** @type {Map<Id, {abort: AbortController, method: string}>} requests of the client */
  #serving = new Map();
  #server;

  /**
   * @param {import("./service.mjs").Send} send
   * @param {(session: LegacySession) => Server} serve
   */
  constructor(send, serve) {
    this.send = send;
    this.requests = new ClientRequests(send);
    this.#server = serve(this);
  }

  /** The client's capabilities. */
  get capabilities() {
    return this.#capabilities ?? {};
  }

  /** @param {Json} message */
  receive(message) {
    const { id, method, params } = message;
    if (method === undefined) this.requests.settle(message);
    else if (id !== undefined) void this.#serve(id, method, params ?? {});
    else if (method === "notifications/cancelled") this.#cancel(params?.requestId);
  }

  /**
   * The stream of a request is gone, which is no cancellation: a call goes on, and only a wait ends.
   * @param {Id} id
   */
  dropped(id) {
    const method = this.#serving.get(id)?.method;
    if (method !== undefined && this.#server.waits?.has(method)) this.#cancel(id);
  }

  close() {
    this.#server.close?.();
    for (const id of this.#serving.keys()) this.#cancel(id);
    this.requests.close();
  }

  /**
   * Asks the client in the course of its own request, and withdraws the question when that one is cancelled.
   * @param {string} method
   * @param {Json} params
   * @param {Id} about
   * @param {AbortSignal} signal
   * @returns {Promise<Outcome>}
   */
  async ask(method, params, about, signal) {
    signal.throwIfAborted();
    const { id, answer } = this.requests.send(method, params, about);
    const withdraw = () => this.requests.withdraw(id);
    signal.addEventListener("abort", withdraw);
    try {
      return { result: await answer };
    } catch (error) {
      if (error instanceof RpcError) return { error: errorObject(error) };
      throw error;
    } finally {
      signal.removeEventListener("abort", withdraw);
    }
  }

  /** @param {Id} id */
  #cancel(id) {
    this.#serving.get(id)?.abort.abort();
  }

  /**
   * @param {Id} id
   * @param {string} method
   * @param {Json} params
   */
  async #serve(id, method, params) {
    const abort = new AbortController();
    this.#serving.set(id, { abort, method });
    let response;
    try {
      response = reply(id, await this.#answer(id, method, params, abort.signal));
    } catch (error) {
      response = failure(id, error);
    }
    this.#serving.delete(id);
    if (!abort.signal.aborted) this.send(response, id);
  }

  /**
   * @param {Id} id
   * @param {string} method
   * @param {Json} params
   * @param {AbortSignal} signal
   * @returns {Promise<Json>}
   */
  async #answer(id, method, params, signal) {
    if (method === "initialize") {
      this.#capabilities = isObject(params["capabilities"]) ? params["capabilities"] : {};
      return this.#server.initialize(params);
    }
    if (method === "ping") return {};
    if (this.#capabilities === undefined) {
      throw new RpcError(codes.invalidRequest, "initialize comes first");
    }
    const result = await this.#server.answer(id, method, params, signal);
    if (result === undefined) throw noMethod(method);
    return result;
  }
}
