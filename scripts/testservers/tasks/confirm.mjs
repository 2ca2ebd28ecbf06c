// Pages for a person's browser: opening one confirms it. They are this server's own, on loopback.
// @ts-check
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";

/**
 * @typedef {object} Page
 * @property {string} id also the elicitationId of 2025-11-25
 * @property {string} url
 * @property {string} message
 */

/** Visits that are kept; the oldest go first. */
const maxVisits = 100;

/** Visits of a few pages each. A visit's id cannot be guessed, so it may pass through the client. */
export class ConfirmPages {
  /** @type {Map<string, Map<string, Page>>} pages that are not confirmed, by visit and by id */
  #visits = new Map();
  #events = new EventEmitter().setMaxListeners(0);
  /** @type {Promise<import("node:http").Server> | undefined} */
  #server;

  /**
   * Begins a visit, and listens on a port of its own with the first one.
   * @param {readonly string[]} messages one for each page
   */
  async open(messages) {
    this.#server ??= this.#listen();
    const address = (await this.#server).address();
    const port = typeof address === "object" ? address?.port : undefined;
    const visit = randomUUID();
    /** @type {Map<string, Page>} */
    const pages = new Map();
    for (const message of messages) {
      const id = randomUUID();
      pages.set(id, { id, message, url: `http://127.0.0.1:${port}/confirm?id=${id}` });
    }
    this.#visits.set(visit, pages);
    for (const oldest of this.#visits.keys()) {
      if (this.#visits.size <= maxVisits) break;
      this.#visits.delete(oldest);
    }
    return visit;
  }

  /** @param {string} visit */
  has(visit) {
    return this.#visits.has(visit);
  }

  /**
   * The pages that are still to be confirmed.
   * @param {string} visit
   */
  left(visit) {
    return [...(this.#visits.get(visit)?.values() ?? [])];
  }

  /**
   * Resolves once all pages of the visit are confirmed, or the signal aborts.
   * @param {string} visit
   * @param {AbortSignal} signal
   */
  async confirmed(visit, signal) {
    while (this.left(visit).length > 0 && !signal.aborted) {
      await once(this.#events, "confirmed", { signal }).catch((error) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  /**
   * Calls back with the id of each page that is confirmed; returns how to end that.
   * @param {(id: string) => void} listener
   */
  onConfirmed(listener) {
    this.#events.on("confirmed", listener);
    return () => {
      this.#events.off("confirmed", listener);
    };
  }

  async close() {
    const server = await this.#server;
    server?.close();
    server?.closeAllConnections();
  }

  async #listen() {
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? "/", "http://127.0.0.1");
      const found = url.pathname === "/confirm" && this.#confirm(url.searchParams.get("id") ?? "");
      response.writeHead(found ? 200 : 404, { "Content-Type": "text/plain; charset=utf-8" });
      response.end(found ? "Confirmed. You can close this page.\n" : "There is no such page.\n");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return server;
  }

  /** @param {string} id */
  #confirm(id) {
    for (const pages of this.#visits.values()) {
      if (!pages.delete(id)) continue;
      this.#events.emit("confirmed", id);
      return true;
    }
    return false;
  }
}
