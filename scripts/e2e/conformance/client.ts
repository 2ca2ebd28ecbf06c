// The suite's "client": starts the sidecar with the scenario's server, has a task do what the scenario
// wants to see, and exits with 0 where that went well. The suite gives the server's URL as the last
// argument, and the rest by environment variables.
import { AgreeingFrontEnd, type Context } from "./frontEnd.ts";
import { play } from "./scenarios.ts";

/** In milliseconds. It is shorter than the suite's timeout, so that this client reports what took too long. */
const waitLimit = 55_000;

const url = process.argv.at(-1);
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"];
if (url === undefined || scenario === undefined) {
  throw new Error("started by the conformance suite only: npm run conformance");
}
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;
const frontEnd = await AgreeingFrontEnd.start(url, context, scenario);
try {
  const late = AbortSignal.timeout(waitLimit);
  await Promise.race([
    play(scenario, frontEnd, context),
    frontEnd.failure,
    new Promise((_, reject) => {
      late.addEventListener("abort", () => reject(new Error(`not done within ${waitLimit} ms`)));
    }),
  ]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await frontEnd.stop();
}
