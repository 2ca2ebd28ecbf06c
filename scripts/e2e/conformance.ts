// npm run conformance: the official conformance suite's client scenarios, against the real sidecar, and its scenarios
// for servers with tasks, against the example server. `npm run conformance -- --only auth/scope-step-up` runs one of
// them and shows its output. `npm run conformance -- --gateway` runs only the scenarios for servers, through the
// gateway. Without it they come last.

import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { buildSidecar } from "../tools/lib/build.ts";
import { runGatewayScenarios } from "./conformance/gateway.ts";
import { listScenarios, type Run, runScenario, type Scenario } from "./conformance/suite.ts";
import { runTasksServerScenarios } from "./conformance/tasksServer.ts";

/** The revisions of MCP that Assent implements. Each scenario runs with each of them. */
const revisions = ["2025-11-25", "2026-07-28"];

const { values } = parseArgs({
  options: { only: { type: "string" }, gateway: { type: "boolean" } },
});
const only = values.only?.split(",");
await buildSidecar();
if (values.gateway) {
  await runGatewayScenarios(revisions);
  process.exit();
}
const all = (await Promise.all(revisions.map((each) => listScenarios(each)))).flat();
const chosen = all.filter(({ name }) => only === undefined || only.includes(name));
if (chosen.length === 0) {
  throw new Error(
    `no scenario ${values.only}; there are ${all.map(({ name }) => name).join(", ")}`,
  );
}
const runs = await inParallel(chosen);
const failures = runs.filter((run) => !run.passed);
for (const { scenario, log } of failures) {
  console.log(`\n--- ${scenario.revision} ${scenario.name}\n${log}`);
}
console.log(`\n${runs.map(line).join("\n")}\n`);
for (const revision of revisions) console.log(summary(revision));
if (failures.length > 0) process.exitCode = 1;
if (only === undefined) {
  await runTasksServerScenarios();
  await runGatewayScenarios(revisions);
}

/** Runs scenarios, as many at once as there are processors, and returns them in their order. */
async function inParallel(scenarios: readonly Scenario[]): Promise<Run[]> {
  const results: Run[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < scenarios.length; i = next++) {
      const scenario = scenarios[i];
      if (scenario !== undefined) results[i] = await runScenario(scenario);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
  return results;
}

function line({ scenario, passed, checks, seconds }: Run): string {
  const verdict = passed ? "ok    " : "FAILED";
  const why = scenario.scored ? "" : ` (not scored: ${scenario.reason})`;
  const counted = `${checks.passed}/${checks.passed + checks.failed}`.padStart(7);
  return `${verdict} ${scenario.revision} ${counted} ${seconds.toFixed(1).padStart(5)} s  ${scenario.name}${why}`;
}

function summary(revision: string): string {
  const own = runs.filter(({ scenario }) => scenario.revision === revision);
  const required = own.filter(({ scenario }) => scenario.scored);
  return `${revision}: ${passing(required)} required scenarios pass; ${passing(own)} with those that the suite does not score`;
}

/** How many of the runs pass, and with how many checks. */
function passing(some: readonly Run[]): string {
  const checks = some.reduce((sum, run) => sum + run.checks.passed, 0);
  return `${some.filter((run) => run.passed).length} of ${some.length} (${checks} checks)`;
}
