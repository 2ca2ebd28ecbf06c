#!/usr/bin/env node
// An example MCP server for tasks, in raw JSON-RPC: the tasks of 2025-11-25, and the tasks extension
// of 2026-07-28. Its jobs report progress, ask in the middle, can be cancelled, and survive a restart
// of the server. It needs Node.js 20 or newer and nothing else. See --help.
//
// It serves one person on one machine: whoever reaches it sees all of its tasks.
// @ts-check
import { Host } from "./test-tasks-server/host.mjs";
import { serveHttp } from "./test-tasks-server/http.mjs";
import { parseOptions, usage } from "./test-tasks-server/options.mjs";
import { serveStdio } from "./test-tasks-server/stdio.mjs";

/** @param {readonly string[]} args */
async function main(args) {
  if (args.includes("--help")) {
    console.log(usage);
    return;
  }
  const options = parseOptions(args);
  const host = new Host(options);
  if (options.port === undefined) {
    // A client that was killed reads no more; what the tasks know is in their files.
    process.stdout.on("error", () => process.exit(1));
    await serveStdio(host, process.stdin, process.stdout);
    await host.close();
    return;
  }
  const server = await serveHttp(host, options.port);
  console.log(server.url);
  await new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, resolve);
  });
  await host.close();
  await server.close();
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`test-tasks-server: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
