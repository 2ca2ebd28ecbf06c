// JSON-RPC 2.0 as all raw servers speak it, and the names of this one.
// @ts-check

export * from "../kit/rpc.mjs";

/** The last revision with sessions and with tasks in its core. */
export const legacyVersion = "2025-11-25";

export const serverInfo = { name: "test-tasks-server", version: "1.0.0" };

export const tasksExtension = "io.modelcontextprotocol/tasks";
