// A server of 2026-07-28 with one skill: it writes its frames by itself, so that the gateway gets each member as the
// specification has it.
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";

const folder = "skill://refunds";
const name = "refunds";
const description = "How to refund an order";
const files: Readonly<Record<string, string>> = {
  [`${folder}/SKILL.md`]: `---\nname: ${name}\ndescription: ${description}\n---\nRead references/FORMS.md.\n`,
  [`${folder}/references/FORMS.md`]: "Which form belongs to which order.\n",
};
const kept = { resultType: "complete", ttlMs: 1000, cacheScope: "private" };
const skill = {
  uri: `${folder}/SKILL.md`,
  frontmatter: { name, description },
  resources: Object.entries(files).map(([uri, content]) => ({
    uri,
    digest: `sha256:${createHash("sha256").update(content).digest("hex")}`,
    size: Buffer.byteLength(content),
  })),
};
const main = { uri: skill.uri, name, description, mimeType: "text/markdown" };
const form = { uri: `${folder}/references/FORMS.md`, name: "FORMS.md", mimeType: "text/markdown" };
const children: Readonly<Record<string, readonly object[]>> = {
  [folder]: [
    main,
    { uri: `${folder}/references`, name: "references", mimeType: "inode/directory" },
  ],
  [`${folder}/references`]: [form],
};

/** The result of a request, or undefined for an error with the code -32602. */
function result(method: string, uri: string): object | undefined {
  switch (method) {
    case "server/discover": {
      const extensions = { "io.modelcontextprotocol/skills": { directoryRead: true } };
      const capabilities = { tools: {}, resources: {}, extensions };
      const _meta = { "io.modelcontextprotocol/serverInfo": { name: "skills", version: "1" } };
      return { ...kept, supportedVersions: ["2026-07-28"], capabilities, _meta };
    }
    case "tools/list":
      return { ...kept, tools: [] };
    case "resources/list":
      return { ...kept, resources: [main, form] };
    case "resources/templates/list":
      return { ...kept, resourceTemplates: [] };
    case "resources/read": {
      const content = files[uri];
      const contents = [{ uri, mimeType: "text/markdown", text: content }];
      return content === undefined ? undefined : { ...kept, contents };
    }
    case "resources/directory/read": {
      const resources = children[uri];
      return resources && { ...kept, resources };
    }
    case "skills/list":
      return { ...kept, skills: [skill] };
    case "skills/get":
      return uri === skill.uri ? { ...kept, skill } : undefined;
    default:
      return undefined;
  }
}

/** The server; it does not listen yet. */
export function skillsServer(): Server {
  return createServer(async (request, response) => {
    const { id, method, params } = JSON.parse((await text(request)) || "{}");
    if (id === undefined) {
      response.writeHead(request.method === "POST" ? 202 : 405).end();
      return;
    }
    const answer = result(method, params?.uri);
    const error = { code: -32602, message: `there is no ${params?.uri}` };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ jsonrpc: "2.0", id, ...(answer ? { result: answer } : { error }) }),
    );
  });
}
