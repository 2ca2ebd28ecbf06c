// JSON-RPC 2.0, and the names of MCP that more than one server uses.
// @ts-check

/**
 * A JSON object of the wire. Code that uses it checks its shape.
 * @typedef {{[member: string]: any}} Json
 */

/** The first revision without sessions. */
export const modernVersion = "2026-07-28";

/** Members of `_meta`. */
export const meta = {
  /** What the model may be told at once in place of a task's result (2025-11-25, Creating Tasks). */
  immediateResponse: "io.modelcontextprotocol/model-immediate-response",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  relatedTask: "io.modelcontextprotocol/related-task",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
};

/** Error codes of JSON-RPC and of MCP. */
export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  urlElicitationRequired: -32042,
};

/** Bytes of one message; a longer one ends the connection that it came on. */
export const maxMessageBytes = 4 * 1024 * 1024;

/** An error that goes to the other side as it is. */
export class RpcError extends Error {
  /**
   * @param {number} code
   * @param {string} message
   * @param {unknown} [data]
   */
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** @param {string} method one that this server does not have */
export function noMethod(method) {
  return new RpcError(codes.methodNotFound, `no method ${method}`);
}

/**
 * An error as the `error` member of a response. An error that is not an RpcError is a bug of this server.
 * @param {unknown} error
 * @returns {Json}
 */
export function errorObject(error) {
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return data === undefined ? { code, message } : { code, message, data };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: codes.internalError, message };
}

/**
 * @param {string | number} id
 * @param {Json} result
 */
export function reply(id, result) {
  return { jsonrpc: "2.0", id, result };
}

/**
 * @param {string | number | null} id null where the request could not be read
 * @param {unknown} error
 */
export function failure(id, error) {
  return { jsonrpc: "2.0", id, error: errorObject(error) };
}

/**
 * @param {string} method
 * @param {Json} params
 */
export function notification(method, params) {
  return { jsonrpc: "2.0", method, params };
}

/**
 * Parses one message. Throws an RpcError if it is invalid.
 * @param {string} text
 * @returns {Json}
 */
export function parseMessage(text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    throw new RpcError(codes.parseError, "not JSON");
  }
  const id = typeof message?.id;
  if (!isObject(message) || message["jsonrpc"] !== "2.0" || !/string|number|undefined/.test(id)) {
    throw new RpcError(codes.invalidRequest, "not a JSON-RPC 2.0 message");
  }
  if (
    message["method"] === undefined ? id === "undefined" : typeof message["method"] !== "string"
  ) {
    throw new RpcError(codes.invalidRequest, "neither a request nor a response");
  }
  if (message["params"] !== undefined && !isObject(message["params"])) {
    throw new RpcError(codes.invalidParams, "params is no object");
  }
  return message;
}

/**
 * @param {unknown} value
 * @returns {value is Json}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
