// An MCP server on stdio that speaks the one revision that its argument names, and has all methods of it. It writes its
// frames by itself: each result has what its revision wants, and nothing of a later one.
import { serveTable } from "../../testservers/kit/table.mjs";

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

/** A result of the revision. */
const plain = (members: object): object => ({
  ...(isModern && { resultType: "complete" }),
  ...members,
});

/** One that may be kept. */
const listed = (members: object): object =>
  plain({ ...members, ...(isModern && { ttlMs: 0, cacheScope: "private" }) });

const words = (text: string) => ({ type: "text", text });

serveTable({
  ...(isModern
    ? { "server/discover": listed({ supportedVersions: [revision], capabilities }) }
    : {
        initialize: { protocolVersion: revision, capabilities, serverInfo },
        ping: {},
        "logging/setLevel": {},
        "resources/subscribe": {},
        "resources/unsubscribe": {},
      }),
  "tools/list": listed({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
  "tools/call": (params: { arguments?: { message?: string } }) =>
    plain({ content: [words(params.arguments?.message ?? "")] }),
  "prompts/list": listed({
    prompts: [
      { name: "simple-prompt" },
      { name: "completable-prompt", arguments: [{ name: "department" }] },
    ],
  }),
  "prompts/get": plain({ messages: [{ role: "user", content: words("Hello") }] }),
  "resources/list": listed({ resources: [{ uri, name: "note" }] }),
  "resources/templates/list": listed({
    resourceTemplates: [{ uriTemplate: "memo://{name}", name: "notes" }],
  }),
  "resources/read": listed({ contents: [{ uri, text: "hello" }] }),
  "completion/complete": plain({ completion: { values: ["Engineering"] } }),
});
