// A server of 2025-11-25 of which there can be only one: raw JSON-RPC over stdio. A call of its tool "shoot" ends at once.
// When there is a file of the name in the argument, it asks for the picture's name and format, during no call, and writes
// the answer into that file.
// @ts-check
import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { serveTable } from "../../testservers/kit/table.mjs";

const [file = ""] = process.argv.slice(2);
const requestedSchema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", minLength: 1 },
    format: { type: "string", title: "Format", enum: ["png", "jpeg"], default: "png" },
  },
  required: ["name"],
};

async function askWhenWanted() {
  while (!existsSync(file)) await sleep(50);
  const answer = await ask("elicitation/create", { message: "Keep the picture?", requestedSchema });
  writeFileSync(file, JSON.stringify(answer));
}

const { ask } = serveTable({
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "camera", version: "1" },
  },
  "tools/list": { tools: [{ name: "shoot", inputSchema: { type: "object", properties: {} } }] },
  "tools/call": () => {
    void askWhenWanted();
    return { content: [{ type: "text", text: "Taken." }] };
  },
});
