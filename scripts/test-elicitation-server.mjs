#!/usr/bin/env node
// An example MCP server on the official TypeScript SDK. Its tools ask: the person for preferences
// (elicitation), the model for a completion (sampling); each returns what it got, as text.
// @ts-check
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";

/** People take their time; the SDK's own limit for a request is a minute. */
const patience = { timeout: 24 * 60 * 60 * 1000 };

const server = new Server(
  { name: "test-elicitation-server", version: "1.0.0" },
  { capabilities: { tools: {} } },
);

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    {
      name: "ask_user_preferences",
      title: "Ask for preferences",
      description: "Asks you how results should be written (elicitation).",
      inputSchema: { type: "object", properties: {} },
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
    case "request_llm_help":
      return text(
        `LLM response: ${await askModel(String(request.params.arguments?.question ?? ""))}`,
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
  return server.request(
    {
      method: "elicitation/create",
      params: {
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
      },
    },
    ElicitResultSchema,
    patience,
  );
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
    patience,
  );
  return result.content.type === "text" ? result.content.text : JSON.stringify(result.content);
}

// The timer of a pending request would keep the process alive after its client has gone.
process.stdin.on("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
