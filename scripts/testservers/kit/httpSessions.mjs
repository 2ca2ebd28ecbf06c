// The sessions of the revisions before 2026-07-28 over Streamable HTTP (basic/transports): each request of the client has
// the stream of its POST, everything else goes to the client's GET stream.
// @ts-check
import { randomUUID } from "node:crypto";
import { ResponseStream } from "./responseStream.mjs";
import { codes, failure, RpcError } from "./rpc.mjs";

/**
 * @typedef {import("node:http").IncomingMessage} Request
 * @typedef {import("node:http").ServerResponse} Response
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./service.mjs").Id} Id
 * @typedef {import("./service.mjs").Service} Service
 */

/** Sessions that are kept; the oldest go first, and their clients begin new ones. */
const maxSessions = 100;
/** Messages that wait for a GET stream. */
const maxQueue = 1000;

/** Methods that may have something to say before their answer. */
const streaming = new Set(["tools/call", "tasks/result"]);

export class LegacySessions {
  /** @type {Map<string, HttpSession>} */
  #sessions = new Map();

  /** @param {Service} service */
  constructor(service) {
    this.service = service;
  }

  /**
   * @param {Request} request
   * @param {Response} response
   * @param {Json | undefined} message the body of a POST
   */
  serve(request, response, message) {
    const version = request.headers["mcp-protocol-version"];
    const { legacyVersion } = this.service;
    if (version !== undefined && version !== legacyVersion) {
      return refuse(response, 400, message, `no version ${version}, ${legacyVersion} is one`);
    }
    if (message?.["method"] === "initialize" && message["id"] !== undefined) {
      return this.#initialize(response, message);
    }
    const id = request.headers["mcp-session-id"];
    if (id === undefined) {
      return refuse(response, 400, message, "no Mcp-Session-Id: initialize comes first");
    }
    const session = this.#sessions.get(String(id));
    if (session === undefined) return refuse(response, 404, message, "no such session");
    if (request.method === "GET") session.listen(response);
    else if (message !== undefined) session.post(response, message);
    else {
      this.#end(String(id));
      response.writeHead(204).end();
    }
  }

  close() {
    for (const id of [...this.#sessions.keys()]) this.#end(id);
  }

  /**
   * @param {Response} response
   * @param {Json} message
   */
  #initialize(response, message) {
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size < maxSessions) break;
      this.#end(oldest);
    }
    const id = randomUUID();
    const session = new HttpSession(this.service);
    this.#sessions.set(id, session);
    session.post(response, message, { "Mcp-Session-Id": id });
  }

  /** @param {string} id */
  #end(id) {
    this.#sessions.get(id)?.close();
    this.#sessions.delete(id);
  }
}

class HttpSession {
  /** @type {Map<Id, {stream: ResponseStream, headers: Record<string, string>}>} */
  #posts = new Map();
  /** @type {ResponseStream | undefined} */
  #listening;
  /** @type {Json[]} */
  #queue = [];

  /** @param {Service} service */
  constructor(service) {
    this.session = service.open((message, about) => this.#send(message, about));
  }

  /**
   * @param {Response} response
   * @param {Json} message
   * @param {Record<string, string>} [headers]
   */
  post(response, message, headers = {}) {
    const { id, method } = message;
    if (id === undefined || method === undefined) {
      this.session.receive(message);
      response.writeHead(202).end();
      return;
    }
    const stream = new ResponseStream(response);
    this.#posts.set(id, { stream, headers });
    response.on("close", () => {
      if (this.#posts.get(id)?.stream !== stream) return;
      this.#posts.delete(id);
      this.session.dropped(id);
    });
    if (streaming.has(method)) stream.begin();
    this.session.receive(message);
  }

  /**
   * The stream for what belongs to no request of the client; a new one replaces the one before.
   * @param {Response} response
   */
  listen(response) {
    this.#listening = new ResponseStream(response);
    this.#listening.begin();
    for (const message of this.#queue.splice(0)) this.#listening.write(message);
  }

  close() {
    this.session.close();
  }

  /**
   * @param {Json} message
   * @param {Id | undefined} about
   */
  #send(message, about) {
    const isResponse = message["method"] === undefined;
    const post = about === undefined ? undefined : this.#posts.get(about);
    if (post !== undefined && isResponse) {
      this.#posts.delete(/** @type {Id} */ (about));
      post.stream.end(message, 200, post.headers);
    } else if (post !== undefined) post.stream.write(message);
    // A response has its own stream or none: the client that left it does not want it.
    else if (isResponse) return;
    else if (this.#listening?.open) this.#listening.write(message);
    else if (this.#queue.length < maxQueue) this.#queue.push(message);
  }
}

/**
 * @param {Response} response
 * @param {number} status
 * @param {Json | undefined} message
 * @param {string} reason
 */
function refuse(response, status, message, reason) {
  const error = new RpcError(codes.invalidRequest, reason);
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(failure(message?.["id"] ?? null, error)));
}
