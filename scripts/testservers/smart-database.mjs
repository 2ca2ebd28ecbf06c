#!/usr/bin/env node
// The smart database: an example MCP server on a real SQLite file, whose tool asks the model how risky
// a deletion is, and the person to confirm it. In raw JSON-RPC, in the revisions that it is told. It
// needs Node.js 22.13 or newer, which has SQLite, and nothing else. See --help.
// @ts-check
import { serve } from "./kit/serve.mjs";
import { parseOptions, usage } from "./smart-database/options.mjs";

/** @param {readonly string[]} args */
async function main(args) {
  if (args.includes("--help")) {
    console.log(usage);
    return;
  }
  const options = parseOptions(args);
  if (!process.getBuiltinModule?.("node:sqlite")) {
    throw new Error(`Node.js ${process.versions.node} has no SQLite: use 22.13 or newer`);
  }
  // Imported late, or an older Node.js would say only that there is no such module.
  const { Host } = await import("./smart-database/host.mjs");
  const host = new Host(options);
  await serve(host, options.port, () => host.close());
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`smart-database: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
