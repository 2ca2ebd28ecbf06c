// The reference: a host of the same panel in one process. It runs the server over stdio, keeps an ask as a promise and
// stores nothing. To all that a panel asks when it is loaded it gives the recorded answers of a daemon. Its
// arguments are the file of these and the benchmark's port. It prints the address of its page.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type {
  Ask,
  AskResponseParams,
  Event,
  Field,
  ListOpenAsksResult,
  McpElicitationResponse,
  OpenAsk,
  OpenTaskResult,
  TaskEventParams,
} from "@assent/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { root } from "../../tools/lib/paths.ts";
import type { Message, Recording } from "./messages.ts";

const [recordingFile = "", port = ""] = process.argv.slice(2);
const recording = JSON.parse(await readFile(recordingFile, "utf8")) as Recording;
const { task, messages = [] } = recording["task/open"] as OpenTaskResult;
const callId = messages.find(({ body }) => body.type === "call")?.id ?? 0;
const serverName = "pixels";

let page: WebSocket | undefined;
let number = task.lastNumber;
let lastMessage = messages.at(-1)?.id ?? 0;
const open = new Map<string, (response: McpElicitationResponse) => void>();
const listed = new Map<string, OpenAsk>();

const server = spawn(process.execPath, [join(import.meta.dirname, "server.ts"), port], {
  stdio: ["pipe", "pipe", "inherit"],
});

function toServer(message: Message): void {
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function toPage(message: Message): void {
  page?.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

function tell(event: Event): void {
  number++;
  const params: TaskEventParams = { taskId: task.id, number, openAsks: open.size, event };
  toPage({ method: "task/event", params });
}

interface Elicitation {
  readonly message: string;
  readonly requestedSchema: {
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
  };
}

/** Shows a question of the server, and returns the answer to it. */
async function elicit({ message, requestedSchema }: Elicitation): Promise<McpElicitationResponse> {
  const { properties, required } = requestedSchema;
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      ({ ...schema, name, ...(required.includes(name) && { required: true }) }) as Field,
  );
  lastMessage++;
  const id = lastMessage;
  const time = Date.now();
  const origin = { serverName, toolNames: ["ask"], messageId: callId };
  const body: Ask = {
    type: "ask",
    askId: `ask-${id}`,
    ask: "use_mcp_server",
    question: {
      type: "mcp_elicitation",
      ...origin,
      elicitationRequest: { message, fields, requestedSchema: JSON.stringify(requestedSchema) },
    },
  };
  const { askId } = body;
  const about = { taskId: task.id, title: task.title, messageId: id, time, askId };
  listed.set(askId, { ...about, wants: "mcp_elicitation", origin, text: message });
  const answer = new Promise<McpElicitationResponse>((resolve) => open.set(askId, resolve));
  tell({ type: "messageAdded", message: { id, time, body } });
  const elicitationResponse = await answer;
  open.delete(askId);
  listed.delete(askId);
  // The server gets the answer before the page hears of it.
  setImmediate(() => {
    const outcome = { reason: "answered", by: "a browser", at: Date.now() } as const;
    tell({ type: "askSettled", messageId: id, outcome, elicitationResponse });
  });
  return elicitationResponse;
}

/** Hears the server. */
async function hear({ id, method, params }: Message): Promise<void> {
  if (method !== "elicitation/create") return;
  toServer({ id, result: await elicit(params as Elicitation) });
}

/** Answers the panel. */
function answer({ method = "", params }: Message): unknown {
  switch (method) {
    case "askResponse": {
      const { askId, elicitationContent } = params as AskResponseParams;
      open.get(askId)?.({ action: "accept", content: elicitationContent });
      return { outcome: { reason: "answered", by: "a browser", at: Date.now() } };
    }
    case "ask/list":
      return { asks: [...listed.values()] } satisfies ListOpenAsksResult;
    default:
      return recording[method] ?? {};
  }
}

let rest = "";
server.stdout.setEncoding("utf8").on("data", (piece: string) => {
  const lines = (rest + piece).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) void hear(JSON.parse(line) as Message);
});
const capabilities = { elicitation: {} };
const clientInfo = { name: "reference", version: "1" };
const introduction = { protocolVersion: "2025-11-25", capabilities, clientInfo };
toServer({ id: "initialize", method: "initialize", params: introduction });
toServer({ method: "notifications/initialized" });
toServer({ id: "call", method: "tools/call", params: { name: "ask", arguments: {} } });

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".ttf": "font/ttf",
};

const document = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="main.css">
</head>
<body data-host="browser">
<div id="root"></div>
<script type="module" src="main.js"></script>
</body>
</html>
`;

const http = createServer(async ({ url = "/" }, response) => {
  const { pathname } = new URL(url, "http://127.0.0.1");
  response.setHeader("Cache-Control", "no-store");
  if (pathname === "/") {
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(document);
    return;
  }
  const packed = await readFile(
    join(root, "sidecar", "browser", "panel", `${pathname.slice(1)}.gz`),
  );
  response.setHeader("Content-Type", contentTypes[extname(pathname)] ?? "text/plain");
  response.setHeader("Content-Encoding", "gzip").end(packed);
});
new WebSocketServer({ server: http, path: "/bridge" }).on("connection", (socket) => {
  page = socket;
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Message;
    const result = answer(message);
    if (message.id !== undefined) toPage({ id: message.id, result });
  });
});
http.listen(0, "127.0.0.1");
await once(http, "listening");
console.log(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`);
