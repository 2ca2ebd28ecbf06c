// The headers and statuses of 2026-07-28 (basic/transports/streamable-http, Request Metadata).
// @ts-check
import { hasMeta } from "./meta.mjs";
import { codes, meta, RpcError } from "./rpc.mjs";

/** @typedef {import("./rpc.mjs").Json} Json */

/** @type {Record<string, string>} the member of params that Mcp-Name repeats, by method */
const names = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/**
 * Throws HeaderMismatch unless the headers say what the body says.
 * @param {import("node:http").IncomingHttpHeaders} headers
 * @param {Json} request
 */
export function checkHeaders(headers, request) {
  const { method, params } = request;
  const version = params?._meta?.[meta.protocolVersion];
  if (version !== undefined) match(headers, "MCP-Protocol-Version", version);
  match(headers, "Mcp-Method", method);
  const name = params?.[names[method] ?? ""];
  if (typeof name === "string") match(headers, "Mcp-Name", name);
}

/**
 * @param {import("node:http").IncomingHttpHeaders} headers
 * @param {string} header
 * @param {string} value
 */
function match(headers, header, value) {
  const sent = headers[header.toLowerCase()];
  if (sent === undefined) {
    throw new RpcError(codes.headerMismatch, `Header mismatch: ${header} is missing`);
  }
  if (decoded(String(sent)) !== value) {
    throw new RpcError(
      codes.headerMismatch,
      `Header mismatch: ${header} is '${sent}', the body says '${value}'`,
    );
  }
}

/**
 * A value that is no plain ASCII comes as =?base64?...?= (Value Encoding).
 * @param {string} value
 */
function decoded(value) {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}

/**
 * The status of the response to a request.
 * @param {Json} request
 * @param {Json} response
 */
export function statusOf(request, response) {
  switch (response["error"]?.code) {
    case codes.methodNotFound:
      return 404;
    case codes.headerMismatch:
    case codes.missingCapability:
    case codes.unsupportedVersion:
      return 400;
    case codes.invalidParams:
      return hasMeta(request) ? 200 : 400;
    default:
      return 200;
  }
}
