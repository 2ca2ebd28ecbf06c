#!/usr/bin/env node
// An example MCP server for sampling, in raw JSON-RPC, in the revision that it is told: its tools ask
// the client's model, some of them badly, and return exactly what they got. It needs Node.js 20 or
// newer and nothing else. See --help.
// @ts-check
import { runProgram } from "./kit/program.mjs";
import { samplingService } from "./sampling/host.mjs";
import { parseOptions, usage } from "./sampling/options.mjs";

await runProgram("test-sampling-server", usage, parseOptions, ({ version }) =>
  samplingService(version),
);
