// The servers of docs/examples.md, run as they stand there.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { cacheFolder, root } from "./paths.ts";

const commands = {
  ts: [process.execPath],
  go: ["go", "run"],
} as const;

let folder = "";
let server: ChildProcess | undefined;
afterEach(async () => {
  server?.kill();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the example in a language, and returns the content of a call whose question gets the given answer. */
async function callOf(language: keyof typeof commands, answer: object): Promise<unknown> {
  const document = await readFile(join(root, "docs", "examples.md"), "utf8");
  const [, code] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(document) ?? [];
  if (code === undefined) throw new Error(`docs/examples.md has no ${language}`);
  // Below the repository's node_modules and its Go module, of which the examples import.
  await mkdir(cacheFolder, { recursive: true });
  folder = await mkdtemp(join(cacheFolder, "example-"));
  const file = join(folder, `tables.${language}`);
  await writeFile(file, code);
  const [program, ...args] = commands[language];
  const child = spawn(program, [...args, file], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  server = child;
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: { form: {} } },
      clientInfo: { name: "test", version: "1" },
    },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, method, result } = JSON.parse(line);
    if (method === "elicitation/create") send({ id, result: answer });
    else if (method !== undefined) continue;
    else if (id === 2) return result.content;
    else {
      send({ method: "notifications/initialized" });
      send({ id: 2, method: "tools/call", params: { name: "book_table", arguments: {} } });
    }
  }
  throw new Error("the server ended");
}

const languages = ["ts", "go"] as const;

test.each(languages)("the server in %s takes a yes", async (language) => {
  const accept = { action: "accept", content: { guests: 4 } };
  expect(await callOf(language, accept)).toEqual([{ type: "text", text: "A table for 4." }]);
});

test.each(languages)("the server in %s takes a no", async (language) => {
  const no = await callOf(language, { action: "decline" });
  expect(no).toEqual([{ type: "text", text: "No table: decline." }]);
});
