import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../tools/lib/paths.ts";
import { onStage, type Stage } from "../stage.ts";
import type { Governed, Server } from "./hosts.ts";
import { linkedProgram, programIn, throughDaemon, write } from "./journey.ts";
import { ScriptedModel } from "./scriptedModel.ts";

const recorder = join(root, "scripts", "e2e", "realHosts", "recorder.mjs");

/** What programs need of a machine's own files. An organisation's files are never among them. */
const common = [
  ..."passwd group hosts nsswitch.conf resolv.conf ld.so.cache ld.so.conf".split(" "),
  ..."localtime ssl ca-certificates alternatives".split(" "),
];

/** Has the folder that is the first argument stand in the place of /etc, and runs the rest. */
const script = 'mount --bind "$1" /etc; shift; exec "$@"';

/** The two servers of the host: the organisation denies the second one. */
const allowed = "shop";
const denied = "github";

/**
 * A host has two servers, and its organisation's file at its real place denies one of them. That one is never started: not
 * before setup, not after it, not after a restore. Nor is it if the file came after setup, and the host itself lets the entry
 * start Assent.
 */
export async function keepsPolicy(host: Governed): Promise<void> {
  await onStage("assent-policy-", async (stage) => {
    // It has the daemon of this machine's own files, and takes no part.
    const frontEnd = await stage.frontEnd("the test of policies", "window", {
      servers: {},
      model: { provider: "demo" },
    });
    const model = await ScriptedModel.start({ tool: "nothing", arguments: {} });
    stage.atEnd(() => model.stop());
    const machine = new Machine(stage, host, model.url);
    stage.atEnd(() => machine.stop());
    return { frontEnd, play: () => governed(machine) };
  });
}

async function governed(machine: Machine): Promise<void> {
  const both = [allowed, denied];
  const before = await machine.begin();
  const restored = async () => {
    await machine.assent("restore");
    if (!machine.host.rewrites) assert.equal(await machine.configured(), before);
  };
  assert.deepEqual(await machine.started(both), both, "without a policy");
  await machine.forbid(machine.policy);
  assert.deepEqual(await machine.started([allowed]), [allowed], "before setup");
  await machine.assent("setup", "--yes");
  assert.match(
    machine.said,
    /Blocked by your (organisation|own settings)/,
    "setup says what it leaves",
  );
  assert.deepEqual(await machine.started([allowed]), [allowed], "after setup");
  await restored();
  assert.deepEqual(await machine.started([allowed]), [allowed], "after a restore");

  // The file comes after setup. By a new name of its entry, or because of its program, the host itself lets it start Assent.
  await machine.forbid(undefined);
  await machine.assent("setup", "--yes");
  assert.doesNotMatch(await machine.configured(), /recorder\.mjs/, "not all servers have moved");
  assert.deepEqual(await machine.started(both), both, "through Assent, without a policy");
  const { text = machine.policy, starts, renames } = machine.host.late(machine.program);
  const routed = await machine.configured();
  const renamed = renames ? routed.replace(`"${denied}":`, '"renamed":') : routed;
  assert.equal(renamed !== routed, renames);
  await machine.configure(renamed);
  await machine.forbid(text);
  assert.deepEqual(await machine.started(starts), starts, "a policy after setup");
  await machine.configure(routed);
  await restored();
}

/** A machine whose files of organisations are those of the test, with one host. */
class Machine {
  readonly host: Governed;
  readonly program: string;
  readonly #stage: Stage;
  readonly #model: string;
  readonly #etc: string;
  readonly #workspace: string;
  #said = "";

  constructor(stage: Stage, host: Governed, model: string) {
    this.host = host;
    this.program = programIn(stage);
    this.#stage = stage;
    this.#model = model;
    this.#etc = join(stage.folder, "etc");
    this.#workspace = join(stage.folder, "workspace");
  }

  /** Makes the files of the machine, and returns the host's configuration. */
  async begin(): Promise<string> {
    await mkdir(this.#workspace);
    for (const name of common) {
      const from = join("/etc", name);
      if (existsSync(from)) await cp(from, join(this.#etc, name), { recursive: true });
    }
    const text = this.host.configuration(this.#servers, this.#model);
    await write(this.#file, text);
    return text;
  }

  get #servers(): Readonly<Record<string, Server>> {
    const servers: Record<string, Server> = {};
    for (const name of [allowed, denied]) {
      servers[name] = {
        command: process.execPath,
        args: [recorder, this.#record(name), name],
        env: { ASSENT_TEST_FOLDER: this.#stage.folder, V: name },
      };
    }
    return servers;
  }

  /** The text of the organisation's file. */
  get policy(): string {
    return this.host.policy(this.#servers);
  }

  get #file(): string {
    return join(this.#stage.home, this.host.file);
  }

  #record(name: string): string {
    return join(this.#stage.folder, `${name}.jsonl`);
  }

  async configured(): Promise<string> {
    return await readFile(this.#file, "utf8");
  }

  async configure(text: string): Promise<void> {
    await writeFile(this.#file, text);
  }

  /** The organisation's file says this now, or is not there. */
  async forbid(text: string | undefined): Promise<void> {
    const { place } = this.host;
    const path = place.startsWith("~")
      ? join(this.#stage.home, place.slice(1))
      : join(this.#etc, place.replace(/^\/etc\//, ""));
    await rm(path, { force: true });
    if (text === undefined) return;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  /** Runs the host, which waits for the servers that it may use, and returns those that were started. */
  async started(expected: readonly string[]): Promise<readonly string[]> {
    // Neither a daemon that has a server, nor a list that it kept, takes the place of a start.
    await this.stop();
    const kept = join(this.#stage.home, ".config", "assent", "hosts");
    await rm(kept, { recursive: true, force: true });
    for (const name of [allowed, denied]) await rm(this.#record(name), { force: true });
    const env = { ...this.host.env(this.#model), PATH: this.#path() };
    const [command = "", ...args] = this.host.list(expected);
    // A host whose server fails may fail itself.
    const fails = expected.length < 2;
    this.#said = await this.#run(env, fails, command, args);
    return [allowed, denied].filter((name) => existsSync(this.#record(name)));
  }

  /** Runs a command of Assent. */
  async assent(...args: readonly string[]): Promise<void> {
    await linkedProgram(this.#stage);
    const bin = dirname(this.program);
    this.#said = await this.#run({ PATH: `${bin}:${this.#path()}` }, false, "assent", args);
    await throughDaemon(this.#stage);
  }

  /** What the last command wrote. */
  get said(): string {
    return this.#said;
  }

  /** Stops the daemon. */
  async stop(): Promise<void> {
    if (!existsSync(this.program)) return;
    await this.#run({ PATH: this.#path() }, true, this.program, ["daemon", "stop", "--force"]);
  }

  #path(): string {
    return [dirname(process.execPath), "/usr/bin", "/bin"].join(":");
  }

  /** Runs a program where the test's folder is /etc, and returns its output. */
  async #run(
    env: Readonly<Record<string, string>>,
    mayFail: boolean,
    command: string,
    args: readonly string[],
  ): Promise<string> {
    const asRoot = process.getuid?.() === 0 ? [] : ["--map-root-user"];
    const mounted = ["--mount", "sh", "-ec", script, "sh", this.#etc];
    const options = {
      cwd: this.#workspace,
      // Nothing of this process's own.
      env: { ...this.#stage.environment, ...env },
      timeout: 180_000,
    };
    const running = promisify(execFile)(
      "/usr/bin/unshare",
      [...asRoot, ...mounted, command, ...args],
      options,
    );
    running.child.stdin?.end();
    try {
      const { stdout, stderr } = await running;
      return `${stdout}\n${stderr}`;
    } catch (error) {
      const { stdout, stderr, killed } = error as {
        stdout: string;
        stderr: string;
        killed: boolean;
      };
      if (!mayFail || killed || /unshare|mount:/.test(stderr)) throw error;
      return `${stdout}\n${stderr}`;
    }
  }
}

/** Fails where a test may not put files at their real places. */
export async function placesCanBeSet(): Promise<void> {
  const asRoot = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const args = [...asRoot, "--mount", "mount", "--bind", root, "/etc"];
  await promisify(execFile)("/usr/bin/unshare", args).catch((error: Error) => {
    throw new Error(
      `files cannot be put at their places here, so no policy is tested: ${error.message}`,
    );
  });
}
