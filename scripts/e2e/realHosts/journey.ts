import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
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
  const process = await start(scene);
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
}

/** Starts the host in a workspace that configures the server. */
async function start({ host, era, stage, model }: Scene): Promise<ChildProcess> {
  const { folder, environment } = stage;
  const home = join(folder, "home");
  const workspace = join(folder, "workspace");
  const args = [program, "--era", era, "--store", join(folder, "tasks")];
  const servers = { [server]: { command: process.execPath, args } };
  await write(join(workspace, ".vscode", "mcp.json"), JSON.stringify({ servers }));
  const told: Told = {
    model: model.url,
    server: {
      name: server,
      command: sidecarBinary,
      args: ["gateway", server, "--trust", "--data-dir", join(folder, "of-hosts")],
      // Some hosts pass on little of their own environment.
      env: { ...environment, ASSENT_DAEMON_DIR: join(folder, "data", "daemon") },
    },
    prompt: "Plan a journey to Lisbon",
  };
  await write(join(home, host.file), host.configuration(told));
  const [command = "", ...rest] = host.command(told);
  return spawn(command, rest, {
    cwd: workspace,
    // Nothing of this process's own, which may have an account or a proxy.
    env: {
      PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
      HOME: home,
      ...environment,
      ...host.env(told),
    },
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
  for (const { question, name, answer } of asked) {
    const ask = await frontEnd.othersAsk();
    assert.deepEqual([ask.title, ask.text], [title, question]);
    await frontEnd.request("askResponse", {
      taskId: ask.taskId,
      askId: ask.askId,
      askResponse: "yesButtonClicked",
      elicitationContent: { [name]: answer },
    });
  }
}

async function write(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
