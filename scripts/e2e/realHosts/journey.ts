import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import type { OpenAsk } from "@assent/protocol";
import { output } from "../../tools/lib/command.ts";
import { root, sidecarBinary } from "../../tools/lib/paths.ts";
import type { FrontEnd } from "../frontEnd.ts";
import { stopGroup } from "../processes.ts";
import { onStage, type Stage } from "../stage.ts";
import type { Host, Told } from "./hosts.ts";
import { ScriptedModel } from "./scriptedModel.ts";

const program = join(root, "scripts", "testservers", "tasks.mjs");
const server = "journeys";
const script = { tool: "plan_journey", arguments: { destination: "Lisbon", step_ms: 0 } };

/** What the tool asks, one after the other, and what the person answers. */
const asked = [
  { question: "Which day do you want to travel?", name: "day", answer: "friday" },
  { question: "Window or aisle?", name: "seat", answer: "aisle" },
];

/** Who takes part. */
export interface Cast {
  readonly host: Host;
  /** The revisions of MCP that the server speaks. */
  readonly era: "legacy" | "modern";
}

/** A host that was not started, and all that it needs. */
interface Scene extends Cast {
  readonly stage: Stage;
  readonly model: ScriptedModel;
  /** A window on another workspace. */
  readonly frontEnd: FrontEnd;
}

/** Runs in a separate scene, which is removed afterwards. */
export async function inScene(cast: Cast, play: (scene: Scene) => Promise<void>): Promise<void> {
  await onStage("assent-hosts-", async (stage) => {
    const model = await ScriptedModel.start(script);
    stage.atEnd(() => model.stop());
    const frontEnd = await stage.frontEnd("the test of hosts", "data", {
      servers: {},
      model: { provider: "demo" },
    });
    return { frontEnd, play: () => play({ ...cast, stage, model, frontEnd }) };
  });
}

/** The tool asks twice, a person answers in Assent, and the host's model hears what the tool returned. */
export async function carriedThrough(scene: Scene): Promise<void> {
  const { host, stage, model, frontEnd } = scene;
  const routed = await route(scene);
  const process = start(routed);
  try {
    const output = outputOf(process, model);
    const answering = answerAll(frontEnd, `${host.title} in workspace`);
    // A host that ends early reports the reason, and no question follows.
    await Promise.race([answering, output]);
    const said = await output;
    const problems = [said, ...model.problems].join("\n");
    const [before, after, ...more] = model.turns;
    assert.deepEqual([before, after?.length, more], [[], 1, []], problems);
    for (const { name, answer } of asked) {
      assert.match(after?.[0] ?? "", new RegExp(`"${name}":"${answer}"`), problems);
    }
    assert.ok(said.includes(after?.[0] ?? ""), problems);
    await answering;
    assert.deepEqual(model.problems, []);
    assert.equal((await readdir(join(stage.folder, "tasks"))).length, 1, "each call is a task");
  } finally {
    await stopGroup(process);
  }
  await listsServer(routed, scene, /\bgateway\b/);
  await assent(stage, "restore");
  const restored = await readFile(routed.file, "utf8");
  if (host.rewrites) assert.deepEqual(serversOf(restored), serversOf(routed.before));
  else assert.equal(restored, routed.before);
  await listsServer(routed, scene, /tasks\.mjs/);
}

/**
 * Two processes of the host make the same call at once. Each has a question of its own, in a conversation of its own, and
 * its model hears the answer to that.
 */
export async function twoAtOnce(scene: Scene): Promise<void> {
  const { host, stage, model, frontEnd } = scene;
  const routed = await route(scene);
  const processes = [start(routed), start(routed)];
  try {
    const outputs = Promise.all(processes.map((process) => outputOf(process, model)));
    const days: Readonly<Record<string, string>> = {
      [`${host.title} in workspace`]: "friday",
      [`${host.title} in workspace (2)`]: "monday",
    };
    const answering = (async () => {
      const both = await frontEnd.othersAsks(2);
      assert.deepEqual(both.map(({ title }) => title).sort(), Object.keys(days));
      for (const _ of [...asked, ...asked]) {
        const ask = await frontEnd.othersAsk();
        const one = asked.find(({ question }) => question === ask.text);
        assert.ok(one, ask.text);
        await accept(frontEnd, ask, one.name === "day" ? (days[ask.title] ?? "") : one.answer);
      }
    })();
    // A host that ends early reports the reason, and no question follows.
    await Promise.race([answering, outputs]);
    const said = await outputs;
    await answering;
    for (const day of Object.values(days)) {
      const heard = said.filter((output) => output.includes(`"day":"${day}"`));
      assert.equal(heard.length, 1, [day, ...said].join("\n"));
    }
    assert.equal((await readdir(join(stage.folder, "tasks"))).length, 2, "each call runs once");
    assert.deepEqual(model.problems, []);
  } finally {
    await Promise.all(processes.map((process) => stopGroup(process)));
  }
}

/** The host lists its server, which it starts in this way. */
async function listsServer(
  routed: Routed,
  { host, era, model }: Scene,
  starts: RegExp,
): Promise<void> {
  // To list a server, some hosts start it, and without Assent they speak the legacy era alone.
  if (host.list === undefined || era !== "legacy") return;
  const process = start({ ...routed, command: host.list() });
  try {
    const listed = await outputOf(process, model);
    assert.match(listed, new RegExp(server));
    assert.match(listed, starts);
  } finally {
    await stopGroup(process);
  }
}

/** A host that uses Assent, and how it came to that. */
interface Routed {
  /** The host's configuration file, and its earlier text. */
  readonly file: string;
  readonly before: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workspace: string;
}

/** Configures the server in the host, and has `assent setup` route it. */
async function route({ host, era, stage, model }: Scene): Promise<Routed> {
  const { folder, home } = stage;
  const told: Told = {
    model: model.url,
    server: {
      name: server,
      command: process.execPath,
      args: [program, "--era", era, "--store", join(folder, "tasks")],
      // Some hosts pass little of their own environment, and the end of the story looks for its processes by this.
      env: { ASSENT_TEST_FOLDER: folder },
    },
    prompt: "Plan a journey to Lisbon",
  };
  const file = join(home, host.file);
  const before = host.configuration(told);
  await write(file, before);
  const workspace = join(folder, "workspace");
  await mkdir(workspace);
  await assent(stage, "setup", "--yes");
  assert.notEqual(await readFile(file, "utf8"), before, "the host does not use Assent");
  await throughDaemon(stage);
  return {
    file,
    before,
    command: host.command(told),
    // Nothing of this process's own, which may have an account or a proxy.
    environment: {
      PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
      ...stage.environment,
      ...host.env(told),
    },
    workspace,
  };
}

/** Has the program that setup found, and hosts start, lead to the daemon of this story, and not to the person's own. */
export async function throughDaemon(stage: Stage): Promise<void> {
  const daemon = join(stage.folder, "data", "daemon");
  const script = `#!/bin/sh\nASSENT_DAEMON_DIR='${daemon}' exec '${sidecarBinary}' "$@"\n`;
  await rm(programIn(stage));
  await write(programIn(stage), script, 0o755);
}

/** Runs a command of the program that is in the PATH as `assent`. */
export async function assent(stage: Stage, ...args: readonly string[]): Promise<void> {
  const program = programIn(stage);
  await mkdir(dirname(program), { recursive: true });
  await symlink(sidecarBinary, program).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const env = { PATH: [dirname(program), "/usr/bin", "/bin"].join(":"), ...stage.environment };
  await output("assent", args, { env, cwd: join(stage.folder, "workspace") });
}

/** Has the program in the story's PATH be Assent's own, and no script. */
export async function linkedProgram(stage: Stage): Promise<void> {
  const program = programIn(stage);
  await mkdir(dirname(program), { recursive: true });
  await rm(program, { force: true });
  await symlink(sidecarBinary, program);
}

/** The program of Assent in the story's PATH. */
export function programIn(stage: Stage): string {
  return join(stage.folder, "bin", "assent");
}

function serversOf(configuration: string): unknown {
  return (JSON.parse(configuration) as { mcpServers: unknown }).mcpServers;
}

/** Starts the host in its workspace. */
function start({ command: [command = "", ...rest], environment, workspace }: Routed): ChildProcess {
  return spawn(command, rest, {
    cwd: workspace,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
}

/** Waits until a host ends, and returns its output. */
async function outputOf(host: ChildProcess, model: ScriptedModel): Promise<string> {
  assert.ok(host.stdout && host.stderr);
  const [stdout, stderr, [code]] = await Promise.all([
    text(host.stdout),
    text(host.stderr),
    once(host, "close", { signal: AbortSignal.timeout(180_000) }),
  ]);
  const said = [stdout, stderr, ...model.problems].join("\n");
  assert.equal(code, 0, `the host failed:\n${said}`);
  return `${stdout}\n${stderr}`;
}

/** Answers what the tool asks. */
async function answerAll(frontEnd: FrontEnd, title: string): Promise<void> {
  for (const { question, answer } of asked) {
    const ask = await frontEnd.othersAsk();
    assert.deepEqual([ask.title, ask.text], [title, question]);
    await accept(frontEnd, ask, answer);
  }
}

/** Answers a question with one field. */
async function accept(frontEnd: FrontEnd, ask: OpenAsk, answer: string): Promise<void> {
  const name = asked.find(({ question }) => question === ask.text)?.name ?? "";
  await frontEnd.request("askResponse", {
    taskId: ask.taskId,
    askId: ask.askId,
    askResponse: "yesButtonClicked",
    elicitationContent: { [name]: answer },
  });
}

/** Writes a file, and makes its folder. */
export async function write(file: string, content: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content, { mode });
}
