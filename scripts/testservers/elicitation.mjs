#!/usr/bin/env node
// An example MCP server on the official TypeScript SDK. Its tools ask: the person for preferences
// (elicitation), the model for a completion (sampling); each returns the answer as text.
// With --era, it speaks only this version of MCP.
// @ts-check
import { parseArgs } from "node:util";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ErrorCode,
  InitializeRequestSchema,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { everything } from "./elicitation/everything.mjs";

/** People take their time; the SDK's own limit for a request is a minute. */
const waitLimit = { timeout: 24 * 60 * 60 * 1000 };

const { era } = parseArgs({ options: { era: { type: "string" } } }).values;

const serverInfo = { name: "test-elicitation-server", version: "1.0.0" };
const capabilities = { tools: {} };
const server = new Server(serverInfo, { capabilities });
if (era !== undefined) {
  server.setRequestHandler(InitializeRequestSchema, () => ({
    protocolVersion: era,
    capabilities,
    serverInfo,
  }));
}

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    {
      name: "ask_user_preferences",
      title: "Ask for preferences",
      description: "Asks you how results should be written (elicitation).",
      inputSchema: { type: "object", properties: {} },
    },
    {
      name: "fill_everything",
      title: "Fill in everything",
      description: "Asks you with the longest form that MCP allows (elicitation).",
      inputSchema: { type: "object", properties: {} },
    },
    {
      name: "ask_often",
      title: "Ask often",
      description: "Asks you the same many times at once, as no server should (elicitation).",
      inputSchema: {
        type: "object",
        properties: {
          times: { type: "integer", title: "Times", minimum: 1, maximum: 1000, default: 1000 },
        },
      },
    },
    {
      name: "request_llm_help",
      title: "Ask the model",
      description: "Asks the model that you use (sampling).",
      inputSchema: {
        type: "object",
        properties: {
          question: {
            type: "string",
            title: "Question",
            description: "What to ask the model.",
          },
        },
        required: ["question"],
      },
    },
  ],
}));

server.setRequestHandler(CallToolRequestSchema, async (request) => {
  switch (request.params.name) {
    case "ask_user_preferences":
      return text(`User preferences: ${JSON.stringify(await askPreferences(), null, 2)}`);
    case "fill_everything":
      return text(`You said: ${JSON.stringify(await elicit(everything))}`);
    case "ask_often":
      return text(
        await askOften(
          Number(request.params.arguments?.["times"] ?? 1000),
          request.params._meta?.progressToken,
        ),
      );
    case "request_llm_help":
      return text(
        `LLM response: ${await askModel(String(request.params.arguments?.["question"] ?? ""))}`,
      );
    default:
      throw new McpError(ErrorCode.InvalidParams, `no tool ${request.params.name}`);
  }
});

/** @param {string} value */
function text(value) {
  return { content: [{ type: /** @type {const} */ ("text"), text: value }] };
}

function askPreferences() {
  return elicit({
    message: "How should **this operation** write its results?",
    requestedSchema: {
      type: "object",
      properties: {
        outputFormat: {
          type: "string",
          title: "Output format",
          description: "How results are formatted.",
          enum: ["json", "markdown", "plain"],
        },
        verbosity: {
          type: "string",
          title: "Verbosity",
          enum: ["minimal", "normal", "verbose"],
        },
        includeTimestamps: {
          type: "boolean",
          title: "Include timestamps",
          default: true,
        },
      },
      required: ["outputFormat"],
    },
  });
}

/**
 * The progress says how many questions were refused.
 * @param {number} times
 * @param {string | number | undefined} progressToken
 */
async function askOften(times, progressToken) {
  const schema = { type: "object", properties: { more: { type: "string", title: "More" } } };
  const asked = { message: "Anything **else**?", requestedSchema: schema };
  let progress = 0;
  const ask = () =>
    elicit(asked).catch(async (error) => {
      const params = { progressToken, progress: ++progress, total: times };
      if (progressToken !== undefined) {
        await server.notification({ method: "notifications/progress", params });
      }
      throw error;
    });
  const ends = await Promise.allSettled(Array.from({ length: times }, ask));
  /** @type {Record<string, number>} */
  const counts = {};
  for (const end of ends) {
    const what = end.status === "fulfilled" ? end.value.action : String(end.reason.message);
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return JSON.stringify(counts);
}

/** @param {Record<string, unknown>} params */
function elicit(params) {
  return server.request({ method: "elicitation/create", params }, ElicitResultSchema, waitLimit);
}

/** @param {string} question */
async function askModel(question) {
  const result = await server.request(
    {
      method: "sampling/createMessage",
      params: {
        messages: [{ role: "user", content: { type: "text", text: question } }],
        maxTokens: 500,
      },
    },
    CreateMessageResultSchema,
    waitLimit,
  );
  return result.content.type === "text" ? result.content.text : JSON.stringify(result.content);
}

// The timer of a pending request would keep the process alive after its client has gone.
process.stdin.on("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
