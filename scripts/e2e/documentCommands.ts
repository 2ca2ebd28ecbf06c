// The shell commands of README.md and docs/guide.md, as they stand: each block is a script that has to end with 0.
import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { distFolder, root } from "../tools/lib/paths.ts";
import { hostTarget } from "../tools/lib/vsix.ts";
import { step } from "./step.ts";

const documents = ["README.md", "docs/guide.md"] as const;

/**
 * The commands that do not run here, and who runs them: packaging, tests and Go's installation are steps of npm test
 * and of this story, the demo runs until it is stopped and has a story of its own, and no VS Code is installed.
 */
const exceptions = `
npm() { case "$*" in test* | "run demo"* | "run package"*) ;; *) command npm "$@" ;; esac; }
go() { :; }
code() { test -f "$2"; }
assent() {
  case "$*" in
    "call plan_lunch --"*) shift 2; command assent call plan_lunch --answers lunch.yaml "$@" ;;
    *) command assent "$@" ;;
  esac
}
`;

/** A server with what the documents call: two tools, of which one asks, and a resource. */
const server = `
import { createInterface } from "node:readline";
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const schema = { type: "object", properties: {} };
const done = (id, text) => send({ id, result: { content: [{ type: "text", text }] } });
let booking;
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) done(booking, JSON.stringify(result));
  else if (id === undefined) continue;
  else if (method === "initialize") {
    const capabilities = { tools: {}, resources: {} };
    const serverInfo = { name: "demo", version: "1.0.0" };
    send({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
  } else if (method === "tools/list") {
    const tools = ["greet", "book"].map((name) => ({ name, inputSchema: schema }));
    send({ id, result: { tools } });
  } else if (method === "resources/list") {
    send({ id, result: { resources: [{ uri: "memo://note", name: "note" }] } });
  } else if (method === "resources/read") {
    send({ id, result: { contents: [{ uri: params.uri, text: "a note" }] } });
  } else if (method === "tools/call" && params.name === "greet") {
    done(id, "hello");
  } else if (method === "tools/call") {
    booking = id;
    const requestedSchema = { type: "object", properties: { nights: { type: "integer" } } };
    send({ id: 1, method: "elicitation/create", params: { message: "How long?", requestedSchema } });
  } else send({ id, error: { code: -32601, message: method } });
}
`;

/** Runs the blocks of all documents, with the program that the first one of them installs. */
export async function runDocuments(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const work = join(folder, "documents");
  // A server of the person's own needs no confirmation, which no one could give here.
  const own = join(env["XDG_CONFIG_HOME"] ?? "", "assent");
  const program = join(work, "server.mjs");
  await mkdir(own, { recursive: true });
  await mkdir(work);
  await symlink(distFolder, join(work, "dist"));
  await writeFile(program, server);
  const servers = { demo: { command: process.execPath, args: [program] } };
  await writeFile(join(own, "mcp.json"), JSON.stringify({ servers }));
  await writeFile(join(work, "answers.yaml"), "answers:\n  - answer: { nights: 2 }\n");
  await writeFile(
    join(work, "lunch.yaml"),
    "answers:\n  - answer: {}\n  - match: { kind: completion }\n    completion: Come to lunch.\n",
  );
  // A folder that a document leaves to the reader has the records of a call.
  const kept = "assent call demo greet --data-dir kept\n";
  const script = (text: string): string =>
    exceptions +
    (text.includes("FOLDER") ? kept : "") +
    text.replaceAll("linux-x64", hostTarget()).replaceAll("FOLDER", "kept");
  const path = `${join(env["npm_config_prefix"] ?? "", "bin")}:${env["PATH"]}`;
  const options = {
    cwd: work,
    env: {
      ...env,
      PATH: path,
      npm_config_yes: "true", // as the reader answers npx in a terminal
      ANSWERS: "answers.yaml",
      SERVER: `${process.execPath} ${program}`,
    },
  };
  try {
    for (const name of documents) {
      const text = await readFile(join(root, name), "utf8");
      const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
      if (blocks.length === 0) throw new Error(`${name} has no shell command`);
      for (const block of blocks) {
        await step(`${name} says: ${block.split("\n")[0]}`, async () => {
          const running = promisify(execFile)("bash", ["-euxc", script(block)], options);
          running.child.stdin?.end();
          await running;
        });
      }
    }
  } finally {
    await promisify(execFile)("assent", ["daemon", "stop", "--force"], options);
  }
}
