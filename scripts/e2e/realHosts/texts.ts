import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../tools/lib/paths.ts";
import { onStage, type Stage } from "../stage.ts";
import type { Lister, Server } from "./hosts.ts";
import { assent, throughDaemon, write } from "./journey.ts";

const recorder = join(root, "scripts", "e2e", "realHosts", "recorder.mjs");

/** What each host makes of a text: as an argument, and as a variable. The tests of setup have the same file. */
const expansions = JSON.parse(
  await readFile(join(root, "sidecar", "setup", "testdata", "expansions.json"), "utf8"),
) as Readonly<Record<string, Readonly<Record<string, readonly [string, string]>>>>;

/** Fewer servers of a host have not moved to Assent. */
const fewest = 12;

/**
 * A host lists its servers without an error, and starts each with the same texts: by itself, through Assent, and by
 * itself again.
 */
export async function textsArrive(host: Lister): Promise<void> {
  await onStage("assent-texts-", async (stage) => {
    const frontEnd = await stage.frontEnd("the test of texts", "data", {
      servers: {},
      model: { provider: "demo" },
    });
    return { frontEnd, play: () => compared(stage, host) };
  });
}

async function compared(empty: Stage, host: Lister): Promise<void> {
  const stage = { ...empty, environment: { ...empty.environment, SET: "is set", EMPTY: "" } };
  const texts = Object.entries(expansions[host.id] ?? {});
  const record = (name: string) => join(stage.folder, `${name}.jsonl`);
  const name = (index: number) => `text${index}`;
  const servers: Record<string, Server> = {};
  for (const [index, [text]] of texts.entries()) {
    servers[name(index)] = {
      command: process.execPath,
      args: [recorder, record(name(index)), text],
      env: { ASSENT_TEST_FOLDER: stage.folder, OWN: "own", V: text },
    };
  }
  const file = join(stage.home, host.file);
  const before = host.configuration(servers);
  await write(file, before);
  await mkdir(join(stage.folder, "workspace"));
  const all = Object.keys(servers);
  const lists = async (through: readonly string[], when: string) => {
    for (const name of all) await rm(record(name), { force: true });
    const [command = "", ...args] = host.list();
    const { stdout, stderr } = await promisify(execFile)(command, args, {
      cwd: join(stage.folder, "workspace"),
      // Nothing of this process's own.
      env: {
        PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
        ...stage.environment,
        ...host.env,
      },
      timeout: 180_000,
    });
    for (const name of all) assert.match(`${stdout}\n${stderr}`, new RegExp(`\\b${name}\\b`));
    for (const [index, [text, want]] of texts.entries()) {
      if (!through.includes(name(index))) continue;
      const lines = (await readFile(record(name(index)), "utf8")).trim().split("\n");
      assert.deepEqual(JSON.parse(lines.at(-1) ?? ""), want, `${text}, ${when}`);
    }
  };
  await lists(all, "by itself");
  await assent(stage, "setup", "--yes");
  await throughDaemon(stage);
  const own = await readFile(join(stage.home, ".config", "assent", "mcp.json"), "utf8");
  const moved = Object.keys((JSON.parse(own) as { servers: object }).servers);
  assert.ok(moved.length >= fewest, `only ${moved.join(", ")} moved`);
  await lists(moved, "through Assent");
  await assent(stage, "restore");
  if (!host.rewrites) assert.equal(await readFile(file, "utf8"), before);
  await lists(all, "by itself again");
}
