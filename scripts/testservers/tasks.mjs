#!/usr/bin/env node
// An example MCP server for tasks, in raw JSON-RPC: the tasks of 2025-11-25, and the tasks extension
// of 2026-07-28. Its jobs report progress, ask in the middle, can be cancelled, and survive a restart
// of the server. It needs Node.js 20 or newer and nothing else. See --help.
//
// It serves one person on one machine: every client sees all of its tasks.
// @ts-check
import { runProgram } from "./kit/program.mjs";
import { TasksServer } from "./tasks/host.mjs";
import { parseOptions, usage } from "./tasks/options.mjs";

await runProgram("test-tasks-server", usage, parseOptions, (options) => new TasksServer(options));
