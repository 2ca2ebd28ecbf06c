// What each request of 2026-07-28 carries (basic, `_meta`).
// @ts-check
import { codes, isObject, meta, modernVersion, RpcError } from "./rpc.mjs";

/** @typedef {import("./rpc.mjs").Json} Json */

/**
 * Whether a message is one of this revision: its request says which revision it is of.
 * @param {Json} message
 */
export function isModern(message) {
  return message["params"]?._meta?.[meta.protocolVersion] !== undefined;
}

/**
 * Checks what every request carries (basic, `_meta`), and returns the client's capabilities.
 * @param {Json} request
 * @returns {Json}
 */
export function checkMeta(request) {
  if (isInitialize(request)) {
    // The one error that tells a client of the sessions what this server speaks.
    throw unsupported(request["params"]?.protocolVersion);
  }
  if (!hasMeta(request)) {
    const message = `_meta must have ${meta.protocolVersion} and ${meta.clientCapabilities}`;
    throw new RpcError(codes.invalidParams, message);
  }
  const { [meta.protocolVersion]: version, [meta.clientCapabilities]: capabilities } =
    request["params"]._meta;
  if (version !== modernVersion) throw unsupported(version);
  return capabilities;
}

/**
 * Whether a request is the first one of a session, which this revision does not have.
 * @param {Json} request
 */
export function isInitialize(request) {
  return request["method"] === "initialize" && !isModern(request);
}

/** @param {unknown} requested */
function unsupported(requested) {
  return new RpcError(codes.unsupportedVersion, `this server speaks ${modernVersion}`, {
    supported: [modernVersion],
    requested,
  });
}

/**
 * Reports whether a request has the required metadata.
 * @param {Json} request
 */
export function hasMeta(request) {
  const value = request["params"]?._meta;
  return (
    typeof value?.[meta.protocolVersion] === "string" && isObject(value[meta.clientCapabilities])
  );
}

/**
 * The error MissingRequiredClientCapability.
 * @param {Json} requiredCapabilities
 */
export function missingCapability(requiredCapabilities) {
  return new RpcError(codes.missingCapability, "Missing required client capability", {
    requiredCapabilities,
  });
}
