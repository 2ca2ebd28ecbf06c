// An MCP server that adds to a file what it was started with: `node recorder.mjs FILE TEXT`, with the variable V.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file, text] = process.argv.slice(2);
appendFileSync(file, `${JSON.stringify([text, process.env.V])}\n`);
const results = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "recorder", version: "1.0.0" },
  },
  ping: {},
  "tools/list": { tools: [{ name: "nothing", inputSchema: { type: "object" } }] },
};
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const result = results[method];
  const error = { code: -32601, message: `unknown method ${method}` };
  const answer = result === undefined ? { error } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
