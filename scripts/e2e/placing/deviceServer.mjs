// A server of 2025-11-25 of which there can be only one: raw JSON-RPC over stdio. Each call of its tool "flash" waits. When
// two wait, it asks for a port, and says nothing of which call that is for: it is the second. The answer ends that one,
// and the first ends untouched.
// @ts-check
import { serveTable } from "../../testservers/kit/table.mjs";

const requestedSchema = {
  type: "object",
  properties: { port: { type: "integer", title: "Port" } },
};

/** @param {string} text */
const said = (text) => ({ content: [{ type: "text", text }] });

/** @type {((result: object) => void)[]} */
const waiting = [];

const { ask } = serveTable({
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "device", version: "1" },
  },
  "tools/list": {
    tools: [{ name: "flash", inputSchema: { type: "object", properties: {} } }],
  },
  "tools/call": async () => {
    const first = waiting.pop();
    if (first === undefined) return await new Promise((resolve) => waiting.push(resolve));
    const message = "Which port is the device at?";
    const { content } = await ask("elicitation/create", { message, requestedSchema });
    setImmediate(() => first(said("Untouched.")));
    return said(`Flashed at port ${content.port}.`);
  },
});
