#!/usr/bin/env node
// An example MCP server for sampling, in raw JSON-RPC, in the revision that it is told: its tools ask
// the client's model, some of them badly, and return exactly what they got. It needs Node.js 20 or
// newer and nothing else. See --help.
// @ts-check
import { serve } from "./kit/serve.mjs";
import { Host } from "./sampling/host.mjs";
import { parseOptions, usage } from "./sampling/options.mjs";

/** @param {readonly string[]} args */
async function main(args) {
  if (args.includes("--help")) {
    console.log(usage);
    return;
  }
  const options = parseOptions(args);
  // It keeps nothing between requests but what its sessions hold, which end with their connections.
  await serve(new Host(options.version), options.port, async () => {});
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`test-sampling-server: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
