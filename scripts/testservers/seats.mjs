#!/usr/bin/env node
// An MCP server of raw JSON over stdio. Its tool asks for a seat, and offers an app for the form to clients that show one
// (draft SEP-3118). The server, its tools, resources and prompts have icons (SEP-973).
// @ts-check
import { readFileSync } from "node:fs";
import { serveTable } from "./kit/table.mjs";
import { ofPlan, ofPrompt, ofServer, ofTool } from "./seats/icons.mjs";

const apps = "io.modelcontextprotocol/ui";
const uri = "ui://seats/plan";
const page = readFileSync(new URL("seats/plan.html", import.meta.url), "utf8");

let clientShowsIt = false;

/** The form for a seat. */
const form = {
  message: "Which seat do you want on the flight to Lisbon?",
  requestedSchema: {
    type: "object",
    properties: {
      seat: { type: "string", title: "Seat", enum: ["12A", "12C", "14F"] },
      bags: { type: "integer", title: "Bags", minimum: 0, maximum: 3 },
    },
    required: ["seat"],
  },
};

const { ask } = serveTable({
  initialize: ({ protocolVersion, capabilities }) => {
    clientShowsIt = capabilities.extensions?.[apps]?.elicitation !== undefined;
    return {
      protocolVersion,
      capabilities: {
        tools: {},
        resources: {},
        prompts: {},
        extensions: { [apps]: { elicitation: {} } },
      },
      serverInfo: { name: "seats", title: "Seats on Flights", version: "1", icons: ofServer },
    };
  },
  ping: {},
  "tools/list": {
    tools: [{ name: "book", title: "Book a Seat", inputSchema: { type: "object" }, icons: ofTool }],
  },
  "resources/list": {
    resources: [{ uri, name: "plan", title: "Plan of the Seats", icons: ofPlan }],
  },
  "resources/templates/list": {
    resourceTemplates: [
      { uriTemplate: "ui://seats/{name}", name: "page", title: "A Page", icons: ofPlan },
    ],
  },
  "prompts/list": {
    prompts: [{ name: "compare", title: "Compare the Seats", icons: ofPrompt }],
  },
  "prompts/get": {
    messages: [{ role: "user", content: { type: "text", text: "Which seat is the best?" } }],
  },
  "resources/read": {
    contents: [{ uri, mimeType: "text/html;profile=mcp-app", text: page }],
  },
  "tools/call": async () => {
    const params = clientShowsIt ? { ...form, _meta: { ui: { resourceUri: uri } } } : form;
    const result = await ask("elicitation/create", params);
    return { content: [{ type: "text", text: `The server got ${JSON.stringify(result)}.` }] };
  },
});
