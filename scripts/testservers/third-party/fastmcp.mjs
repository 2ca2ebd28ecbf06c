// A server on fastmcp, which publishes no example that asks. Over stdio, or over Streamable HTTP and HTTP with SSE on
// 127.0.0.1 with `--http PORT`.
// @ts-check
import { once } from "node:events";
import { parseArgs } from "node:util";
import { FastMCP } from "fastmcp";

const server = new FastMCP({ name: "fastmcp", version: "1.0.0" });

/**
 * The session of a call. Over stdio it has no id, and may not be known yet when its first call comes.
 * @param {string | undefined} id
 */
async function sessionOf(id) {
  for (;;) {
    const session = server.sessions.find(({ sessionId }) => id === undefined || sessionId === id);
    if (session !== undefined) return session;
    await once(server, "connect");
  }
}

server.addTool({
  name: "form",
  description: "Asks by a form",
  async execute(_, { elicit }) {
    const answer = await elicit({
      message: "Who are you?",
      requestedSchema: {
        type: "object",
        properties: { name: { type: "string", title: "Name" } },
        required: ["name"],
      },
    });
    return JSON.stringify(answer);
  },
});

server.addTool({
  name: "page",
  description: "Asks to open a page",
  async execute(_, { elicit }) {
    const url = "https://login.example/a?b=c";
    return JSON.stringify(
      await elicit({ mode: "url", message: "Log in", url, elicitationId: "1" }),
    );
  },
});

server.addTool({
  name: "completion",
  description: "Asks for a completion",
  async execute(_, { sessionId }) {
    const session = await sessionOf(sessionId);
    const answer = await session.requestSampling({
      messages: [{ role: "user", content: { type: "text", text: "Name a colour" } }],
      maxTokens: 20,
    });
    return JSON.stringify(answer);
  },
});

server.addTool({
  name: "roots",
  description: "Returns the roots",
  execute: async (_, { sessionId }) => JSON.stringify((await sessionOf(sessionId)).roots),
});

const { values } = parseArgs({ options: { http: { type: "string" } } });
await (values.http === undefined
  ? server.start({ transportType: "stdio" })
  : server.start({
      transportType: "httpStream",
      httpStream: { port: Number(values.http), host: "127.0.0.1" },
    }));
