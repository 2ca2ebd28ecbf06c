// An MCP server on stdio that speaks the one revision that its argument names, and has all methods of it. It writes its
// frames by itself: each result has what its revision wants, and nothing of a later one.
import { createInterface } from "node:readline";

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly message?: string } };
}

const revision = process.argv[2] ?? "";
const isModern = revision >= "2026";
const capabilities = {
  tools: {},
  prompts: {},
  resources: { subscribe: true },
  completions: {},
  ...(!isModern && { logging: {} }),
};
const serverInfo = { name: `of ${revision}`, version: "1" };
const uri = "memo://note";
const kept = isModern ? { ttlMs: 0, cacheScope: "private" } : {};

const results: Readonly<Record<string, (message: Message) => object>> = {
  ...(isModern
    ? { "server/discover": () => ({ supportedVersions: [revision], capabilities, ...kept }) }
    : {
        initialize: () => ({ protocolVersion: revision, capabilities, serverInfo }),
        ping: () => ({}),
        "logging/setLevel": () => ({}),
        "resources/subscribe": () => ({}),
        "resources/unsubscribe": () => ({}),
      }),
  "tools/list": () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }], ...kept }),
  "tools/call": ({ params }) => ({
    content: [{ type: "text", text: params?.arguments?.message ?? "" }],
  }),
  "prompts/list": () => ({
    prompts: [
      { name: "simple-prompt" },
      { name: "completable-prompt", arguments: [{ name: "department" }] },
    ],
    ...kept,
  }),
  "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: "Hello" } }] }),
  "resources/list": () => ({ resources: [{ uri, name: "note" }], ...kept }),
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: "memo://{name}", name: "notes" }],
    ...kept,
  }),
  "resources/read": () => ({ contents: [{ uri, text: "hello" }], ...kept }),
  "completion/complete": () => ({ completion: { values: ["Engineering"] } }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined || message.method === undefined) continue;
  const result = results[message.method]?.(message);
  const answer =
    result === undefined
      ? { error: { code: -32601, message: `there is no ${message.method}` } }
      : { result: { ...(isModern && { resultType: "complete" }), ...result } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer })}\n`);
}
