// The revision 2026-07-28, in which each request carries all that it needs.
// @ts-check
import { checkMeta } from "./meta.mjs";
import { failure, meta, modernVersion, noMethod, reply } from "./rpc.mjs";

/** @typedef {import("./rpc.mjs").Json} Json */

/** How long a client may keep what never changes. */
export const cacheable = { ttlMs: 3_600_000, cacheScope: "public" };

/**
 * The result of server/discover.
 * @param {Json} serverInfo
 * @param {Json} [more] capabilities besides tools
 * @param {string} [instructions]
 */
export function discovered(serverInfo, more, instructions) {
  return {
    supportedVersions: [modernVersion],
    capabilities: { tools: {}, ...more },
    ...(instructions !== undefined && { instructions }),
    _meta: { [meta.serverInfo]: serverInfo },
    ...cacheable,
  };
}

/**
 * Serves one request; its response, undefined when the client cancelled it.
 * @param {Json} request
 * @param {AbortSignal} signal
 * @param {(method: string, params: Json, capabilities: Json) =>
 *   Json | undefined | Promise<Json | undefined>} answer the result, by the client's capabilities for this request;
 *   undefined if there is no such method
 */
export async function serveModern(request, signal, answer) {
  const { id, method, params = {} } = request;
  let response;
  try {
    const result = await answer(method, params, checkMeta(request));
    if (result === undefined) throw noMethod(method);
    response = reply(id, { resultType: "complete", ...result });
  } catch (error) {
    response = failure(id, error);
  }
  return signal.aborted ? undefined : response;
}
