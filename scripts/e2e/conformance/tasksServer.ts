// The official suite's scenarios for servers with tasks, against the example server of this
// repository. They speak 2026-07-28 over HTTP; the suite has none for the tasks of 2025-11-25.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { output } from "../../tools/lib/command.ts";
import { root } from "../../tools/lib/paths.ts";

/** All tasks-* server scenarios of the suite, and whether it checks anything in them. */
const scenarios: Readonly<Record<string, "checked" | "skipped by the suite">> = {
  "tasks-lifecycle": "checked",
  "tasks-capability-negotiation": "checked",
  "tasks-wire-fields": "checked",
  "tasks-request-state-removal": "checked",
  "tasks-mrtr-input": "checked",
  "tasks-request-headers": "checked",
  "tasks-dispatch-and-envelope": "checked",
  // The suite waits for a rewrite of its own, for subscriptions/listen: it reports one skipped
  // check. What this server does there is tested in scripts/testservers/tasks/modern.test.ts.
  "tasks-status-notifications": "skipped by the suite",
  "tasks-required-task-error": "checked",
  "tasks-mrtr-composition": "checked",
};

const suite = join(
  root,
  "node_modules",
  "@modelcontextprotocol",
  "conformance",
  "dist",
  "index.js",
);
/** A scenario polls a task for ten seconds at most, several times. */
const scenarioMs = 60_000;

/** What a scenario found, in the suite's own file. */
interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/**
 * Runs every scenario, with a line for each; throws at the end when one did not pass. The suite
 * needs Node.js 22 or newer, which is what runs the scripts.
 */
export async function runTasksServerScenarios(): Promise<void> {
  const server = spawn(
    process.execPath,
    [join(root, "scripts", "testservers", "tasks.mjs"), "--http", "0"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exited = once(server, "exit");
  const folder = await mkdtemp(join(tmpdir(), "assent-conformance-"));
  try {
    const [url] = await Promise.race([
      once(createInterface(server.stdout), "line"),
      exited.then(() => Promise.reject(new Error("test-tasks-server ended before it served"))),
    ]);
    const wrong: string[] = [];
    for (const [scenario, expected] of Object.entries(scenarios)) {
      const checks = await runScenario(scenario, String(url), join(folder, scenario));
      const failures = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
      const passed = checks.filter(({ status }) => status === "SUCCESS").length;
      const ok = failures.length === 0 && passed > 0 === (expected === "checked");
      const verdict = expected === "checked" ? `${passed} of ${checks.length} checks` : expected;
      console.log(`${ok ? "ok    " : "FAILED"} ${scenario}: ${verdict}`);
      for (const { id, errorMessage } of failures) console.log(`       ${id}: ${errorMessage}`);
      if (!ok) wrong.push(scenario);
    }
    if (wrong.length > 0) throw new Error(`conformance: ${wrong.join(", ")} did not pass`);
  } finally {
    server.kill();
    await exited;
    await rm(folder, { recursive: true });
  }
}

/** Runs one scenario; its checks, the failed ones too. */
async function runScenario(scenario: string, url: string, folder: string): Promise<Check[]> {
  const args = ["server", "--url", url, "--scenario", scenario, "--timeout", `${scenarioMs}`];
  let failed: unknown;
  try {
    await output(process.execPath, [suite, ...args, "--output-dir", folder]);
  } catch (error) {
    // It exits so when a check fails, and its file says which; without a file something else is wrong.
    failed = error;
  }
  const files = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const file = files.find((name) => name.endsWith("checks.json"));
  if (file === undefined)
    throw failed ?? new Error(`conformance: ${scenario} wrote no checks.json`);
  return JSON.parse(await readFile(join(folder, file), "utf8"));
}
