#!/usr/bin/env node
// The smart database: an example MCP server on a real SQLite file. Its tool asks the model how risky
// a deletion is, and the person to confirm it. In raw JSON-RPC, in the revisions that it is told. It
// needs Node.js 22.13 or newer, which has SQLite, and nothing else. See --help.
// @ts-check
import { runProgram } from "./kit/program.mjs";
import { parseOptions, usage } from "./smart-database/options.mjs";

await runProgram("smart-database", usage, parseOptions, async (options) => {
  if (!process.getBuiltinModule?.("node:sqlite")) {
    throw new Error(`Node.js ${process.versions.node} has no SQLite: use 22.13 or newer`);
  }
  // Imported late, or an older Node.js would say only that there is no such module.
  const { SmartDatabase } = await import("./smart-database/host.mjs");
  return new SmartDatabase(options);
});
