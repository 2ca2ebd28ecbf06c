// A server of 2025-11-25 that counts birds: raw JSON-RPC over stdio. With a third argument, it answers nothing until there
// is a file of that name.
// @ts-check
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { serveTable } from "../testservers/kit/table.mjs";

const [bird = "", many = "", file = import.meta.filename] = process.argv.slice(2);

while (!existsSync(file)) await sleep(50);
serveTable({
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: bird, version: "1" },
  },
  "tools/list": {
    tools: [{ name: `count_${bird}`, inputSchema: { type: "object", properties: {} } }],
  },
  "tools/call": { content: [{ type: "text", text: `There are ${many} ${bird}.` }] },
});
