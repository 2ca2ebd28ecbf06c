// The revisions with sessions: a tool's requests go to the client in the middle of its tools/call
// (client/sampling).
// @ts-check
import { LegacySession } from "../kit/legacySession.mjs";
import { codes, RpcError } from "../kit/rpc.mjs";
import { serverInfo } from "./serverInfo.mjs";
import { begin, listTools, step } from "./tools.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("../kit/service.mjs").Id} Id
 */

/**
 * Begins a session.
 * @param {import("./versions.mjs").Version} version
 * @param {import("../kit/service.mjs").Send} send
 */
export function openLegacy(version, send) {
  /** @type {Json | undefined} the name and version of the client */
  let info;
  return new LegacySession(send, (session) => ({
    initialize({ clientInfo }) {
      info = clientInfo;
      return { protocolVersion: version, capabilities: { tools: {} }, serverInfo };
    },
    answer(id, method, params, signal) {
      if (method === "tools/list") return listTools();
      if (method !== "tools/call") return undefined;
      return call(
        session,
        id,
        params,
        { version, capabilities: session.capabilities, info },
        signal,
      );
    },
  }));
}

/**
 * @param {LegacySession} session
 * @param {Id} id
 * @param {Json} params
 * @param {import("./tool.mjs").Client} client
 * @param {AbortSignal} signal
 */
async function call(session, id, params, client, signal) {
  const missing = new RpcError(codes.invalidParams, `${params["name"]} asks its client's model`);
  const conversation = begin(params, client, missing);
  let next = step(conversation);
  while (!next.done) {
    const asked = next.value.map((request) =>
      session.ask("sampling/createMessage", request, id, signal),
    );
    next = step(conversation, await Promise.all(asked));
  }
  return next.value;
}
