// The revisions of MCP that change what a server may ask of a model.
// @ts-check
import { modernVersion } from "../kit/rpc.mjs";

/** @typedef {"2024-11-05" | "2025-06-18" | "2025-11-25" | "2026-07-28"} Version */

/** @type {readonly Version[]} */
export const versions = ["2024-11-05", "2025-06-18", "2025-11-25", modernVersion];

/**
 * What a revision has. Revisions are dates, so that their order is the order of their names.
 * @param {Version} version
 */
export function features(version) {
  return {
    streamableHttp: version >= "2025-03-26",
    /** Sound in a message. */
    audio: version >= "2025-03-26",
    /** An array of blocks in a message, not one alone; and tools for the model. */
    arrays: version >= "2025-11-25",
    tools: version >= "2025-11-25",
  };
}
