// What a server is to the transports.
// @ts-check

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {string | number} Id
 *
 * Sends a message to the client. `about` is the client's request that the message belongs to: over
 * HTTP it goes on that one's stream as long as there is one.
 * @typedef {(message: Json, about?: Id) => void} Send
 *
 * A session of a revision before 2026-07-28, on any transport.
 * @typedef {object} Session
 * @property {(message: Json) => void} receive takes a message of the client
 * @property {(id: Id) => void} dropped says that the stream of a request is gone, which is no
 *   cancellation
 * @property {() => void} close
 *
 * @typedef {object} Service
 * @property {"legacy" | "modern" | "both"} era the revisions to serve: those with sessions, 2026-07-28
 * @property {string} legacyVersion the revision of the sessions
 * @property {(send: Send) => Session} open begins a session
 * @property {(request: Json, notify: (message: Json) => void, signal: AbortSignal) =>
 *   Promise<Json | undefined>} serve serves one request of 2026-07-28; its response, undefined when the
 *   client cancelled it
 * @property {() => Promise<void>} close ends what the service does, before its connections end
 */

export {};
