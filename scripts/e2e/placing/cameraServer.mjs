// A server of 2025-11-25 of which there can be only one: raw JSON-RPC over stdio, one message a line. A call of its tool
// "shoot" ends at once. When there is a file of the name in the argument, it asks for the picture's name and format, during no
// call, and writes the answer into that file.
// @ts-check
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [file = ""] = process.argv.slice(2);
const tool = { name: "shoot", inputSchema: { type: "object", properties: {} } };
const requestedSchema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", minLength: 1 },
    format: { type: "string", title: "Format", enum: ["png", "jpeg"], default: "png" },
  },
  required: ["name"],
};

/** @param {Record<string, unknown>} message */
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

async function ask() {
  while (!existsSync(file)) await sleep(50);
  const params = { message: "Keep the picture?", requestedSchema };
  send({ id: "keep", method: "elicitation/create", params });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, result } = JSON.parse(line);
  if (method === "initialize") {
    const serverInfo = { name: "camera", version: "1" };
    send({
      id,
      result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo },
    });
  } else if (method === "tools/list") {
    send({ id, result: { tools: [tool] } });
  } else if (method === "tools/call") {
    send({ id, result: { content: [{ type: "text", text: "Taken." }] } });
    void ask();
  } else if (method === undefined && id === "keep") {
    writeFileSync(file, JSON.stringify(result));
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: "Method not found" } });
  }
}
