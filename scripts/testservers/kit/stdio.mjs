// The stdio transport of every revision: one message a line. A client that sends initialize has its
// session with the process; requests of 2026-07-28 are served beside it.
// @ts-check
import { isModern } from "./meta.mjs";
import { failure, maxMessageBytes, parseMessage } from "./rpc.mjs";

/** @typedef {import("./rpc.mjs").Json} Json */

/**
 * Serves until the input ends.
 * @param {import("./service.mjs").Service} service
 * @param {NodeJS.ReadableStream} input
 * @param {NodeJS.WritableStream} output
 */
export async function serveStdio(service, input, output) {
  const send = (/** @type {Json} */ message) => {
    output.write(`${JSON.stringify(message)}\n`);
  };
  const session = service.open(send);
  /** @type {Map<string | number, AbortController>} requests of 2026-07-28 */
  const serving = new Map();

  /** @param {Json} request */
  async function modern(request) {
    const abort = new AbortController();
    serving.set(request["id"], abort);
    const response = await service.serve(request, send, abort.signal);
    serving.delete(request["id"]);
    if (response !== undefined) send(response);
  }

  /** @param {string} line */
  function receive(line) {
    let message;
    try {
      message = parseMessage(line);
    } catch (error) {
      send(failure(null, error));
      return;
    }
    const { era } = service;
    const { id, method, params } = message;
    const cancelled = method === "notifications/cancelled" && serving.get(params?.requestId);
    if (cancelled) cancelled.abort();
    else if (era === "legacy") session.receive(message);
    else if (era === "both" && !isModern(message) && method !== "server/discover") {
      session.receive(message);
    } else if (id !== undefined && method !== undefined) void modern(message);
  }

  try {
    for await (const line of lines(input)) if (line.trim() !== "") receive(line);
  } finally {
    session.close();
    for (const abort of serving.values()) abort.abort();
  }
}

/**
 * The lines of a stream; throws at one that is too long to be a message.
 * @param {NodeJS.ReadableStream} input
 */
async function* lines(input) {
  input.setEncoding("utf8");
  /** @type {string[]} */
  let parts = [];
  let size = 0;
  for await (const chunk of input) {
    const [first = "", ...others] = String(chunk).split("\n");
    parts.push(first);
    size += first.length;
    for (const next of others) {
      yield parts.join("");
      parts = [next];
      size = next.length;
    }
    if (size > maxMessageBytes) throw new Error(`a message is longer than ${maxMessageBytes}`);
  }
  if (size > 0) yield parts.join("");
}
