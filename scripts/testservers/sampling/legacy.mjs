// The revisions with sessions: a tool's requests go to the client in the middle of its tools/call
// (client/sampling). One object serves one session, on whatever transport.
// @ts-check
import { ClientRequests } from "../kit/clientRequests.mjs";
import { codes, errorObject, failure, isObject, RpcError, reply } from "../kit/rpc.mjs";
import { serverInfo } from "./serverInfo.mjs";
import { begin, listTools, step } from "./tools.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("../kit/service.mjs").Id} Id
 * @typedef {import("../kit/service.mjs").Session} Session
 * @typedef {import("./tool.mjs").Client} Client
 * @typedef {import("./tool.mjs").Outcome} Outcome
 */

/** @implements {Session} */
export class LegacySession {
  /** @type {Client | undefined} */
  #client;
  /** @type {Map<Id, AbortController>} requests of the client */
  #serving = new Map();
  #requests;

  /**
   * @param {import("./versions.mjs").Version} version
   * @param {import("../kit/service.mjs").Send} send
   */
  constructor(version, send) {
    this.version = version;
    this.send = send;
    this.#requests = new ClientRequests(send);
  }

  /** @param {Json} message */
  receive(message) {
    const { id, method, params } = message;
    if (method === undefined) this.#requests.settle(message);
    else if (id !== undefined) void this.#serve(id, method, params ?? {});
    else if (method === "notifications/cancelled") this.#serving.get(params?.requestId)?.abort();
  }

  /** A call goes on without its stream: what it returns has nowhere to go, what it asks has. */
  dropped() {}

  close() {
    for (const abort of this.#serving.values()) abort.abort();
    this.#requests.close();
  }

  /**
   * @param {Id} id
   * @param {string} method
   * @param {Json} params
   */
  async #serve(id, method, params) {
    const abort = new AbortController();
    this.#serving.set(id, abort);
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
    if (method === "initialize") return this.#initialize(params);
    if (method === "ping") return {};
    if (this.#client === undefined) {
      throw new RpcError(codes.invalidRequest, "initialize comes first");
    }
    if (method === "tools/list") return listTools();
    if (method === "tools/call") return await this.#call(id, params, this.#client, signal);
    throw new RpcError(codes.methodNotFound, `no method ${method}`);
  }

  /** @param {Json} params */
  #initialize(params) {
    const { capabilities, clientInfo } = params;
    this.#client = {
      version: this.version,
      capabilities: isObject(capabilities) ? capabilities : {},
      info: clientInfo,
    };
    return { protocolVersion: this.version, capabilities: { tools: {} }, serverInfo };
  }

  /**
   * @param {Id} id
   * @param {Json} params
   * @param {Client} client
   * @param {AbortSignal} signal
   */
  async #call(id, params, client, signal) {
    const missing = new RpcError(codes.invalidParams, `${params["name"]} asks its client's model`);
    const conversation = begin(params, client, missing);
    let next = step(conversation);
    while (!next.done) {
      const asked = next.value.map((request) => this.#ask(request, id, signal));
      next = step(conversation, await Promise.all(asked));
    }
    return next.value;
  }

  /**
   * Asks the client, and withdraws the question when its call is cancelled.
   * @param {Json} params
   * @param {Id} about
   * @param {AbortSignal} signal
   * @returns {Promise<Outcome>}
   */
  async #ask(params, about, signal) {
    signal.throwIfAborted();
    const { id, answer } = this.#requests.send("sampling/createMessage", params, about);
    const withdraw = () => this.#requests.withdraw(id);
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
}
