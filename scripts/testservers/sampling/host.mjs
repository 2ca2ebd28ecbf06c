// What the connections of a process share.
// @ts-check
import { modernVersion } from "../kit/rpc.mjs";
import { LegacySession } from "./legacy.mjs";
import { serveModern } from "./modern.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("../kit/service.mjs").Service} Service
 */

/** @implements {Service} */
export class Host {
  /** @param {import("./versions.mjs").Version} version the one that it speaks */
  constructor(version) {
    this.version = version;
    this.legacyVersion = version;
    /** @type {Service["era"]} */
    this.era = version === modernVersion ? "modern" : "legacy";
  }

  /** @param {import("../kit/service.mjs").Send} send */
  open(send) {
    return new LegacySession(this.version, send);
  }

  /**
   * @param {Json} request
   * @param {(message: Json) => void} _notify
   * @param {AbortSignal} signal
   */
  serve(request, _notify, signal) {
    return serveModern(request, signal);
  }
}
