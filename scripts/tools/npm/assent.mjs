#!/usr/bin/env node
// Starts the program of this machine's package, with this process's streams, and ends as it does.
// @ts-check
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const packageName = `@assent/cli-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "assent.exe" : "assent";

/** @returns {string | undefined} */
function find() {
  try {
    return createRequire(import.meta.url).resolve(`${packageName}/bin/${file}`);
  } catch {
    return undefined; // npm leaves out an optional package that it cannot install
  }
}

const program = find();
if (program === undefined) {
  console.error(
    `assent: the package ${packageName} is missing. Install again, with optional packages. If there is none for this machine, build Assent from its sources.`,
  );
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`assent: ${error.message}`);
  process.exit(1);
});
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => {
    // A terminal sends Ctrl-C to both, and a second one would end the program at once.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code ?? 1);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
