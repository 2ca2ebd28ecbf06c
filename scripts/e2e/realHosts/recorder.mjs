// An MCP server that adds to a file what it was started with: `node recorder.mjs FILE TEXT`, with the variable V.
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
