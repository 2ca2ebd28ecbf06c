#!/usr/bin/env node
// An example MCP server on the official TypeScript SDK. Its tools ask nothing: each returns a kind of result that a client
// can show in more than one way. Its lists have titles and icons.
// @ts-check
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { chart, sound } from "./results/media.mjs";

/** @param {string} color */
const icon = (color) => ({
  src: `data:image/png;base64,${chart(16, color).toString("base64")}`,
  mimeType: "image/png",
  sizes: ["16x16"],
});

const server = new Server(
  {
    name: "results",
    title: "Results of All Kinds",
    version: "1.0.0",
    icons: [icon("#3b8eea")],
  },
  { capabilities: { tools: {}, resources: {}, prompts: {} } },
);

const none = { type: "object", properties: {} };

const people = {
  type: "object",
  properties: {
    total: { type: "integer" },
    people: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "integer" },
          name: { type: "string" },
          seats: { type: "integer" },
        },
        required: ["id", "name", "seats"],
      },
    },
  },
  required: ["total", "people"],
};

const tools = [
  { name: "people", title: "List People", icons: [icon("#23d18b")], outputSchema: people },
  { name: "wrong", title: "List People Wrongly", icons: [icon("#f14c4c")], outputSchema: people },
  { name: "tree", title: "Look at an Order" },
  { name: "media", title: "Show Media", icons: [icon("#d670d6")] },
  { name: "large", title: "Return 5 MB" },
];

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: tools.map((tool) => ({
    ...tool,
    description: `It returns a result to look at (${tool.name}).`,
    inputSchema: none,
  })),
}));

server.setRequestHandler(ListResourcesRequestSchema, () => ({
  resources: [
    {
      uri: "memo://release-notes",
      name: "release-notes",
      title: "Release Notes",
      mimeType: "text/plain",
      icons: [icon("#e5e510")],
    },
  ],
}));

server.setRequestHandler(ListPromptsRequestSchema, () => ({
  prompts: [{ name: "summary", title: "Write a Summary", icons: [icon("#29b8db")] }],
}));

server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({
  contents: [{ uri, mimeType: "text/plain", text: "Version 2 is out." }],
}));

/** @param {unknown} structuredContent */
const said = (structuredContent) => ({
  content: [{ type: "text", text: JSON.stringify(structuredContent) }],
  structuredContent,
});

/** @type {Record<string, () => object>} */
const results = {
  people: () =>
    said({
      total: 3,
      people: [
        { id: 1, name: "Ada Lovelace", seats: 2 },
        { id: 2, name: "Grace Hopper", seats: 14 },
        { id: 3, name: "Katherine Johnson", seats: 1 },
      ],
    }),
  wrong: () =>
    said({
      total: "two",
      people: [
        { id: 1, name: "Ada Lovelace" },
        { id: 2, name: null, seats: 1 },
      ],
    }),
  tree: () => ({
    content: [{ type: "text", text: "The order is on its way." }],
    structuredContent: {
      order: "A-17",
      paid: true,
      customer: {
        name: "Ada Lovelace",
        address: { city: "London", lines: ["12 Square", "Door 4"] },
      },
      items: [
        { article: "Gear", count: 12, price: 3.5 },
        { article: "Crank", count: 1, price: 17 },
      ],
      note: null,
    },
  }),
  media: () => ({
    content: [
      { type: "text", text: "The chart of this year:" },
      { type: "image", data: chart(320, "#3b8eea").toString("base64"), mimeType: "image/png" },
      { type: "audio", data: sound().toString("base64"), mimeType: "audio/wav" },
      {
        type: "resource_link",
        uri: "memo://release-notes",
        name: "release-notes",
        title: "Release Notes",
        mimeType: "text/plain",
      },
      {
        type: "text",
        text: "Query plan: full scan.",
        annotations: { audience: ["assistant"] },
      },
      { type: "text", text: "It took 12 ms.", annotations: { priority: 0 } },
    ],
  }),
  large: () => ({
    content: [{ type: "text", text: "x".repeat(1_000_000) }],
    structuredContent: {
      rows: Array.from({ length: 40_000 }, (_, id) => ({ id, words: "a row of many ".repeat(6) })),
    },
  }),
};

server.setRequestHandler(CallToolRequestSchema, ({ params: { name } }) => {
  const result = results[name];
  if (result === undefined) throw new Error(`no tool ${name}`);
  return result();
});

await server.connect(new StdioServerTransport());
