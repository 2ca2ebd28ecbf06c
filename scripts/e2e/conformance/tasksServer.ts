// The official suite's scenarios for servers with tasks, against the example server of this
// repository. They speak 2026-07-28 over HTTP; the suite has none for the tasks of 2025-11-25.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { output } from "../../tools/lib/command.ts";
import { root } from "../../tools/lib/paths.ts";
import { rawServer } from "../rawServer.ts";
import { type Check, divided, program, readChecks } from "./suite.ts";

const tasksProgram = join(root, "scripts", "testservers", "tasks.mjs");

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
  // check.
  "tasks-status-notifications": "skipped by the suite",
  "tasks-required-task-error": "checked",
  "tasks-mrtr-composition": "checked",
};

/** A scenario polls a task for ten seconds at most, several times. */
const scenarioMs = 60_000;

/**
 * Runs every scenario, with a line for each; throws at the end when one did not pass. The suite
 * needs Node.js 22 or newer, which is what runs the scripts.
 */
export async function runTasksServerScenarios(): Promise<void> {
  const server = await rawServer(tasksProgram, [], "http", {});
  const folder = await mkdtemp(join(tmpdir(), "assent-conformance-"));
  try {
    if (server.config.type !== "http") throw new Error("the server is not on HTTP");
    const { url } = server.config;
    const wrong: string[] = [];
    for (const [scenario, expected] of Object.entries(scenarios)) {
      const checks = await runServerScenario(scenario, url, join(folder, scenario));
      const { passed, failed } = divided(checks);
      const ok = failed.length === 0 && passed.length > 0 === (expected === "checked");
      const verdict =
        expected === "checked" ? `${passed.length} of ${checks.length} checks` : expected;
      console.log(`${ok ? "ok    " : "FAILED"} ${scenario}: ${verdict}`);
      for (const { id, errorMessage } of failed) console.log(`       ${id}: ${errorMessage}`);
      if (!ok) wrong.push(scenario);
    }
    if (wrong.length > 0) throw new Error(`conformance: ${wrong.join(", ")} did not pass`);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

/** Runs one scenario for servers; its checks, the failed ones too. */
export async function runServerScenario(
  scenario: string,
  url: string,
  folder: string,
  ...more: readonly string[]
): Promise<readonly Check[]> {
  const wanted = ["server", "--url", url, "--scenario", scenario, ...more];
  const args = [...wanted, "--timeout", `${scenarioMs}`];
  let failed: unknown;
  try {
    await output(process.execPath, [program, ...args, "--output-dir", folder]);
  } catch (error) {
    // It exits so when a check fails, and its file says which; without a file something else is wrong.
    failed = error;
  }
  const checks = await readChecks(folder);
  if (checks !== undefined) return checks;
  throw failed ?? new Error(`conformance: ${scenario} wrote no checks.json`);
}
