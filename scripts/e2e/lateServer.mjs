// A server of 2025-11-25 that counts birds: raw JSON-RPC over stdio, one message a line. With a third argument, it answers
// nothing until there is a file of that name.
// @ts-check
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const [bird = "", many = "", file = import.meta.filename] = process.argv.slice(2);
const tool = { name: `count_${bird}`, inputSchema: { type: "object", properties: {} } };

/** @param {Record<string, unknown>} message */
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

while (!existsSync(file)) await sleep(50);
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === "initialize") {
    const serverInfo = { name: bird, version: "1" };
    send({
      id,
      result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo },
    });
  } else if (method === "tools/list") {
    send({ id, result: { tools: [tool] } });
  } else if (method === "tools/call") {
    send({ id, result: { content: [{ type: "text", text: `There are ${many} ${bird}.` }] } });
  } else if (id !== undefined) {
    send({ id, error: { code: -32601, message: "Method not found" } });
  }
}
