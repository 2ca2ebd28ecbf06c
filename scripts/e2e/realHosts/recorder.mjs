// An MCP server that adds its argument and its variable V to a file: `node recorder.mjs FILE TEXT`.
import { appendFileSync } from "node:fs";
import { serveTable } from "../../testservers/kit/table.mjs";

const [file, text] = process.argv.slice(2);
appendFileSync(file, `${JSON.stringify([text, process.env.V])}\n`);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
serveTable({
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "recorder", version: "1.0.0" },
  },
  ping: {},
  "tools/list": { tools: [{ name: "nothing", inputSchema: { type: "object" } }] },
});
