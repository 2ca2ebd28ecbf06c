// The Streamable HTTP transport, on loopback: requests of 2026-07-28 each for itself, and sessions
// for clients of the revisions before.
// @ts-check
import { once } from "node:events";
import { createServer } from "node:http";
import { checkHeaders, statusOf } from "./httpHeaders.mjs";
import { LegacySessions } from "./httpSessions.mjs";
import { isInitialize, isModern } from "./meta.mjs";
import { ResponseStream } from "./responseStream.mjs";
import { codes, failure, maxMessageBytes, modernVersion, parseMessage, RpcError } from "./rpc.mjs";

/**
 * @typedef {import("node:http").IncomingMessage} Request
 * @typedef {import("node:http").ServerResponse} Response
 * @typedef {import("./rpc.mjs").Json} Json
 */

/**
 * Listens on 127.0.0.1.
 * @param {import("./service.mjs").Service} service
 * @param {number} port 0 is any
 */
export async function serveHttp(service, port) {
  const sessions = new LegacySessions(service);
  const server = createServer((request, response) => {
    serve(service, sessions, request, response).catch((error) => {
      console.error(`${request.method} ${request.url}: ${error.message}`);
      response.destroy();
    });
  });
  // An answer may take as long as a person does.
  server.requestTimeout = 0;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const actual = typeof address === "object" ? address?.port : port;
  return {
    url: `http://127.0.0.1:${actual}/mcp`,
    async close() {
      sessions.close();
      server.close();
      // The streams that were just told that they are over get their last bytes out.
      server.closeIdleConnections();
      setTimeout(() => server.closeAllConnections(), 500).unref();
      await once(server, "close");
    },
  };
}

/**
 * @param {import("./service.mjs").Service} service
 * @param {LegacySessions} sessions
 * @param {Request} request
 * @param {Response} response
 */
async function serve(service, sessions, request, response) {
  if (!isLocal(request)) return refuse(response, 403, "not from this machine");
  if (new URL(request.url ?? "/", "http://127.0.0.1").pathname !== "/mcp") {
    return refuse(response, 404, "the endpoint is /mcp");
  }
  const { era } = service;
  if (request.method !== "POST") {
    if (era === "modern" || !["GET", "DELETE"].includes(request.method ?? "")) {
      return refuse(response, 405, "POST is the method");
    }
    return sessions.serve(request, response, undefined);
  }
  const text = await bodyOf(request);
  if (text === undefined) return refuse(response, 413, `at most ${maxMessageBytes} bytes`);
  let message;
  try {
    message = parseMessage(text);
  } catch (error) {
    return json(response, 400, failure(null, error));
  }
  const version = request.headers["mcp-protocol-version"];
  const modern = isModern(message) || version === modernVersion || era === "modern";
  if (era === "legacy" && modern) return refuse(response, 400, `no version ${version}`);
  if (!modern) return sessions.serve(request, response, message);
  await serveOne(service, request, response, message);
}

/**
 * One request of 2026-07-28.
 * @param {import("./service.mjs").Service} service
 * @param {Request} request
 * @param {Response} response
 * @param {Json} message
 */
async function serveOne(service, request, response, message) {
  const { id, method } = message;
  if (method === undefined) {
    const error = new RpcError(codes.invalidRequest, `there are no responses in ${modernVersion}`);
    return json(response, 400, failure(null, error));
  }
  if (id === undefined) return void response.writeHead(202).end();
  try {
    if (!isInitialize(message)) checkHeaders(request.headers, message);
  } catch (error) {
    return json(response, 400, failure(id, error));
  }
  const stream = new ResponseStream(response);
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const answer = await service.serve(message, (note) => stream.write(note), gone.signal);
  if (answer !== undefined) stream.end(answer, statusOf(message, answer));
}

/**
 * Protects from pages that a browser on this machine shows (DNS rebinding): who names this server,
 * and the page that sends the request, must be local.
 * @param {Request} request
 */
function isLocal({ headers: { host, origin } }) {
  const local = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;
  if (host === undefined || !local.test(host)) return false;
  return origin === undefined || local.test(origin.replace(/^https?:\/\//, ""));
}

/**
 * The body as text, undefined when it is too long.
 * @param {Request} request
 */
async function bodyOf(request) {
  /** @type {Buffer[]} */
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > maxMessageBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * @param {Response} response
 * @param {number} status
 * @param {Json} message
 */
function json(response, status, message) {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(message));
}

/**
 * @param {Response} response
 * @param {number} status
 * @param {string} reason
 */
function refuse(response, status, reason) {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
  response.end(`${reason}\n`);
}
