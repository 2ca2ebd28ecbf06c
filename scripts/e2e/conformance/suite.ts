// The official suite, as a program: its requirements, and one scenario of it.
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { output } from "../../tools/lib/command.ts";
import { root } from "../../tools/lib/paths.ts";

/** The program of the suite. */
export const program = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** How long a client may take, in milliseconds; the suite then counts it as failed. */
const waitLimit = 60_000;

/** What the suite starts as the client, from the root folder: it splits this at each space. */
const client = "node scripts/e2e/conformance/client.ts";

export interface Scenario {
  readonly name: string;
  /** The revision of MCP that it uses. */
  readonly revision: string;
  /** Whether the revision requires it. Others must pass here as well. */
  readonly scored: boolean;
  /** Why it is not scored, in the suite's own word. */
  readonly reason: string;
}

export interface Run {
  readonly scenario: Scenario;
  /** No check failed or warned, and the client got its result. */
  readonly passed: boolean;
  readonly checks: { readonly passed: number; readonly failed: number };
  readonly seconds: number;
  /** The output of the suite and the client. */
  readonly log: string;
}

/** The scenarios of a revision for one side of the protocol, in the suite's order. */
export async function listScenarios(
  revision: string,
  side: "client" | "server" = "client",
): Promise<Scenario[]> {
  const text = await output(process.execPath, [program, "list", "--requirements", revision]);
  const scenarios: Scenario[] = [];
  let section = "";
  for (const line of text.split("\n")) {
    const heading = /^ *([\w-]+).*:$/.exec(line);
    if (heading?.[1] !== undefined) section = heading[1];
    const [, name, leg] = /^ *- (\S+)(?: \[(\w+)\])?$/.exec(line) ?? [];
    if (name === undefined) continue;
    const scored = leg === undefined;
    if (scored ? section.toLowerCase() !== side : leg !== side) continue;
    scenarios.push({ name, revision, scored, reason: scored ? "" : section });
  }
  if (!scenarios.some(({ scored }) => scored)) {
    throw new Error(`the suite requires nothing for ${revision}: its listing has changed`);
  }
  return scenarios;
}

/** Runs one scenario as `--requirements` would, but in a separate process. */
export async function runScenario(scenario: Scenario): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), "assent-conformance-"));
  const start = performance.now();
  try {
    const args = ["client", "--scenario", scenario.name, "--spec-version", scenario.revision];
    const options = ["--force", "--timeout", `${waitLimit}`, "--command", client, "-o", folder];
    const { code, log } = await runSuite([...args, ...options]);
    const { passed, failed } = divided((await readChecks(folder)) ?? []);
    const checks = { passed: passed.length, failed: failed.length };
    const seconds = (performance.now() - start) / 1000;
    return { scenario, passed: code === 0 && checks.passed > 0, checks, seconds, log };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the suite to its end, and returns its exit code and output. */
export function runSuite(args: readonly string[]): Promise<{ code: number | null; log: string }> {
  const env = {
    ...process.env,
    PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
    NO_COLOR: "1",
  };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { cwd: root, env, stdio: "pipe" });
    child.stdin.end();
    let log = "";
    const take = (text: string): void => {
      log = `${log}${text}`.slice(-20_000);
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, log }));
  });
}

/** A check of a scenario, as the suite writes it down. */
export interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/** The checks that the suite left in its results folder; undefined if it left none. */
export async function readChecks(folder: string): Promise<readonly Check[] | undefined> {
  const files = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const file = files.find((name) => name.endsWith("checks.json"));
  return file === undefined ? undefined : JSON.parse(await readFile(join(folder, file), "utf8"));
}

/** Those that are good, and those that are not. */
export function divided(checks: readonly Check[]) {
  return {
    passed: checks.filter(({ status }) => status === "SUCCESS"),
    failed: checks.filter(({ status }) => status === "FAILURE" || status === "WARNING"),
  };
}
