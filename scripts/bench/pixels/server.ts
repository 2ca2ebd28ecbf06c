// The MCP server that asks, in raw JSON. Its tool runs until the server ends. Its argument is the benchmark's port: for
// each line from there it asks a question, and with the answer it reports the moments of its write and of its read.
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { now } from "./clock.ts";
import type { Asked, Message } from "./messages.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", default: "Ada" },
    keep: { type: "boolean", title: "Keep the old one", default: true },
  },
  required: ["name"],
};

const version = "2025-11-25";
const written = new Map<number, number>();
let asked = 0;

const say = (message: Message): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
};

/** Asks a question for each line of the benchmark. */
function obey(benchmark: Socket): void {
  benchmark.setNoDelay();
  createInterface(benchmark).on("line", (message) => {
    asked++;
    written.set(asked, now());
    say({ id: asked, method: "elicitation/create", params: { message, requestedSchema: schema } });
  });
}

let benchmark: Socket | undefined;

function hear({ id, method, result }: Message, read: number): void {
  switch (method) {
    case undefined: {
      const asked: Asked = { written: written.get(Number(id)) ?? Number.NaN, read, result };
      benchmark?.write(`${JSON.stringify(asked)}\n`);
      return;
    }
    case "initialize":
      say({
        id,
        result: {
          protocolVersion: version,
          capabilities: { tools: {} },
          serverInfo: { name: "pixels", version: "1" },
        },
      });
      return;
    case "tools/list":
      say({ id, result: { tools: [{ name: "ask", inputSchema: { type: "object" } }] } });
      return;
    case "tools/call":
      benchmark = connect(Number(process.argv[2]), "127.0.0.1");
      obey(benchmark);
      return;
    case "ping":
      say({ id, result: {} });
      return;
    default:
      if (id !== undefined) say({ id, error: { code: -32601, message: `no ${method}` } });
  }
}

let rest = "";
process.stdin.setEncoding("utf8").on("data", (piece: string) => {
  const read = now();
  const lines = (rest + piece).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) hear(JSON.parse(line) as Message, read);
});
process.stdin.on("end", () => process.exit(0));
