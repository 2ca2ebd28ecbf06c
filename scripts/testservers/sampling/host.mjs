// What the connections of a process share.
// @ts-check
import { serveModern } from "../kit/modern.mjs";
import { modernVersion } from "../kit/rpc.mjs";
import { openLegacy } from "./legacy.mjs";
import { answerModern } from "./modern.mjs";

/**
 * The server in one revision. It keeps nothing between requests but what its sessions hold, which end with their
 * connections.
 * @param {import("./versions.mjs").Version} version
 * @returns {import("../kit/service.mjs").Service}
 */
export function samplingService(version) {
  return {
    legacyVersion: version,
    era: version === modernVersion ? "modern" : "legacy",
    open: (send) => openLegacy(version, send),
    serve: (request, _notify, signal) => serveModern(request, signal, answerModern),
    close: async () => {},
  };
}
