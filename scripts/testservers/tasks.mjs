#!/usr/bin/env node
// An example MCP server for tasks, in raw JSON-RPC: the tasks of 2025-11-25, and the tasks extension
// of 2026-07-28. Its jobs report progress, ask in the middle, can be cancelled, and survive a restart
// of the server. It needs Node.js 20 or newer and nothing else. See --help.
//
// It serves one person on one machine: whoever reaches it sees all of its tasks.
// @ts-check
import { serve } from "./kit/serve.mjs";
import { Host } from "./tasks/host.mjs";
import { parseOptions, usage } from "./tasks/options.mjs";

/** @param {readonly string[]} args */
async function main(args) {
  if (args.includes("--help")) {
    console.log(usage);
    return;
  }
  const options = parseOptions(args);
  const host = new Host(options);
  await serve(host, options.port, () => host.close());
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`test-tasks-server: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
