// The answer to one POST: a JSON object, or a stream of server-sent events once there is more to
// say than that.
// @ts-check

/** @typedef {import("./rpc.mjs").Json} Json */

/** Milliseconds between comments that keep a quiet stream from being closed on the way. */
const keepAliveMs = 15_000;

export class ResponseStream {
  #response;

  /** @param {import("node:http").ServerResponse} response */
  constructor(response) {
    this.#response = response;
  }

  get open() {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /**
   * Begins the stream of events, if it has not begun.
   * @param {Record<string, string>} [headers]
   */
  begin(headers = {}) {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-cache",
      "X-Accel-Buffering": "no",
      ...headers,
    });
    this.#response.flushHeaders();
    const alive = setInterval(() => {
      if (this.open) this.#response.write(":\n\n");
    }, keepAliveMs).unref();
    this.#response.on("close", () => clearInterval(alive));
  }

  /** @param {Json} message */
  write(message) {
    if (!this.open) return;
    this.begin();
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /**
   * Sends the last message: as JSON when it is the only one.
   * @param {Json} message
   * @param {number} [status]
   * @param {Record<string, string>} [headers]
   */
  end(message, status = 200, headers = {}) {
    if (!this.open) return;
    if (this.#response.headersSent) {
      this.write(message);
      this.#response.end();
      return;
    }
    this.#response.writeHead(status, { "Content-Type": "application/json", ...headers });
    this.#response.end(JSON.stringify(message));
  }
}
