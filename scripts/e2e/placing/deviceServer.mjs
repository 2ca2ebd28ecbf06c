// A server of 2025-11-25 of which there can be only one: raw JSON-RPC over stdio, one message a line. Each
// call of its tool "flash" waits. When two wait, it asks for a port, and says nothing of which call that is
// for: it is the second. The answer ends that one, and the first ends untouched.
// @ts-check
import { createInterface } from "node:readline";

const tool = { name: "flash", inputSchema: { type: "object", properties: {} } };
const requestedSchema = {
  type: "object",
  properties: { port: { type: "integer", title: "Port" } },
};

/** @type {(string | number)[]} */
const waiting = [];

/** @param {Record<string, unknown>} message */
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

/** @param {string | number | undefined} id @param {string} text */
function end(id, text) {
  send({ id, result: { content: [{ type: "text", text }] } });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, result } = JSON.parse(line);
  if (method === "initialize") {
    const serverInfo = { name: "device", version: "1" };
    send({
      id,
      result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo },
    });
  } else if (method === "tools/list") {
    send({ id, result: { tools: [tool] } });
  } else if (method === "tools/call") {
    waiting.push(id);
    const params = { message: "Which port is the device at?", requestedSchema };
    if (waiting.length === 2) send({ id: "port", method: "elicitation/create", params });
  } else if (method === undefined && id === "port") {
    const [first, second] = waiting.splice(0);
    end(second, `Flashed at port ${result.content.port}.`);
    end(first, "Untouched.");
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: "Method not found" } });
  }
}
