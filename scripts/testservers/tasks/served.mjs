// What the sessions and requests of both revisions serve: a host of tools, some of which become tasks.
// @ts-check

/**
 * @typedef {import("./rpc.mjs").Json} Json
 *
 * @typedef {object} Served
 * @property {Json} serverInfo
 * @property {string} legacyVersion the revision of the sessions; one before 2025-11-25 has no tasks
 * @property {import("./jobs.mjs").Jobs} jobs
 * @property {ReadonlyMap<string, import("./tools/tool.mjs").Tool>} tools
 * @property {import("./confirm.mjs").ConfirmPages} [pages]
 * @property {AbortSignal} closing aborts when the process is about to end
 * @property {Uint8Array} stateKey signs what a call keeps with a client of 2026-07-28
 * @property {string} [instructions] how to use the server, for the client's model
 * @property {Json} [capabilities] besides tools and tasks
 * @property {(method: string, params: Json) => Json | undefined} [answer] the result of a request that
 *   is about neither tools nor tasks; undefined where there is no such method
 */

export {};
