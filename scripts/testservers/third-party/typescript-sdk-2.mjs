// A server on version 2 of MCP's TypeScript SDK, which publishes no examples. It asks in both ways that the SDK has: by
// requests in the middle of a call, as version 1 did, and by results that want more input. Over stdio; over Streamable
// HTTP with `--http PORT`; or behind mcp-proxy with `--mcp-proxy PORT`, which adds HTTP with SSE and sessions.
// @ts-check
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { startHTTPServer } from "mcp-proxy";
import { z } from "zod";

const name = z.object({ name: z.string() });

/** @param {unknown} value */
const text = (value) => ({
  content: [{ type: /** @type {const} */ ("text"), text: JSON.stringify(value) }],
});

/** @type {import("@modelcontextprotocol/server").CreateMessageRequestParams} */
const question = {
  messages: [{ role: "user", content: { type: "text", text: "Name a colour" } }],
  maxTokens: 20,
};

function server() {
  const server = new McpServer({ name: "typescript-sdk-2", version: "1.0.0" });
  server.registerTool("request_form", {}, async ({ mcpReq }) =>
    text(
      await mcpReq.elicitInput({
        message: "Who are you?",
        requestedSchema: {
          type: "object",
          properties: { name: { type: "string" } },
          required: ["name"],
        },
      }),
    ),
  );
  server.registerTool("request_completion", {}, async ({ mcpReq }) =>
    text(await mcpReq.requestSampling(question)),
  );
  server.registerTool("form", {}, async ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, "who", name);
    if (answer !== undefined) return text(answer);
    const who = inputRequired.elicit({ message: "Who are you?", requestedSchema: name });
    return inputRequired({ inputRequests: { who } });
  });
  server.registerTool("page", {}, async ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.["login"];
    if (answer !== undefined) return text(answer);
    const login = inputRequired.elicitUrl({
      message: "Log in",
      url: "https://login.example/a?b=c",
    });
    return inputRequired({ inputRequests: { login } });
  });
  server.registerTool("all_at_once", {}, async ({ mcpReq }) => {
    const answers = mcpReq.inputResponses;
    if (answers !== undefined) return text([answers["who"], answers["colour"], answers["roots"]]);
    return inputRequired({
      inputRequests: {
        who: inputRequired.elicit({ message: "Who are you?", requestedSchema: name }),
        colour: inputRequired.createMessage(question),
        roots: inputRequired.listRoots(),
      },
    });
  });
  return server;
}

/** @typedef {import("@modelcontextprotocol/node").NodeIncomingMessageLike} Incoming */

const host = "127.0.0.1";
const { values } = parseArgs({
  options: { http: { type: "string" }, "mcp-proxy": { type: "string" } },
});
if (values.http !== undefined) {
  const handle = toNodeHandler(createMcpHandler(server));
  createServer((request, response) => {
    void handle(/** @type {Incoming} */ (request), response);
  }).listen(Number(values.http), host);
} else if (values["mcp-proxy"] !== undefined) {
  const port = Number(values["mcp-proxy"]);
  await startHTTPServer({ createServer: async () => server(), host, port });
} else serveStdio(server);
