// npm test: everything, in the order in which it fails fastest, the slowest beside the others. While working on one part,
// `npm test -- --only lint,go` runs those steps alone.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkAllocations } from "../bench/allocations.ts";
import { installCodeServer } from "../e2e/codeServer.ts";
import { buildAll } from "./lib/build.ts";
import { output, run, runPackage } from "./lib/command.ts";
import { installDebianPackages } from "./lib/debian.ts";
import { goFolders, goTool } from "./lib/goTools.ts";
import { checkGuideTables } from "./lib/guide.ts";
import { checkTexts } from "./lib/l10n.ts";
import { cacheFolder } from "./lib/paths.ts";
import { hostTarget, packageFor } from "./lib/vsix.ts";

interface Step {
  readonly title: string;
  /** It runs in parallel with the later steps. Its output goes to the log, which is shown when it has ended. */
  readonly beside?: boolean;
  run(log?: number): Promise<void>;
}

const into = (log: number | undefined) => (log === undefined ? {} : { log });

// Every Go command compiles as the build of the product does, so that each package is compiled once.
process.env["CGO_ENABLED"] = "0";
process.env["GOFLAGS"] = "-trimpath";

// Node.js compiles each script once, and strips its types once. The tests start hundreds of processes of the same scripts.
process.env["NODE_COMPILE_CACHE"] ??= join(cacheFolder, "node");

/**
 * SQLite is C that was translated to Go. The race detector makes it five times as slow to run, and as slow to compile
 * as everything else together. It looks for races in our code, not in SQLite's.
 */
const raceFlags = ["modernc.org/sqlite/lib", "modernc.org/libc"].map(
  (path) => `-gcflags=${path}=-race=false`,
);

const steps: Readonly<Record<string, Step>> = {
  setup: { title: "Debian packages", run: installDebianPackages },
  go: {
    title: "Tests of the sidecar",
    // It needs the processors for as long as nearly all that follows takes, much of which waits for browsers and servers.
    beside: true,
    run: (log) =>
      run("go", ["test", "-race", "-timeout=30m", "-vet=all", ...raceFlags, "./..."], {
        // A program with the race detector would sleep for a second at its end.
        env: { CGO_ENABLED: "1", GOFLAGS: "", GORACE: "atexit_sleep_ms=0" },
        ...into(log),
      }),
  },
  // It waits for the network while the tests of the sidecar are compiled.
  codeServer: { title: "code-server", run: installCodeServer },
  lint: { title: "Formatters and linters", run: lint },
  types: {
    title: "TypeScript",
    async run() {
      // protocol/ is checked with each of those that import it.
      for (const project of ["extension", "webview-ui", "scripts"]) {
        await runPackage("typescript/bin/tsc", ["-p", project]);
      }
    },
  },
  unit: {
    title: "Tests of the extension, the webview and the scripts",
    run: () => runPackage("vitest/vitest.mjs", ["run"]),
  },
  build: { title: "Build", run: buildAll },
  package: {
    title: "Package for this machine",
    async run() {
      await packageFor(hostTarget());
    },
  },
  install: {
    title: "The ways to install, without a network",
    run: () => run(process.execPath, ["scripts/e2e/install.ts"]),
  },
  conformance: {
    title: "MCP's own conformance suite",
    beside: true,
    run: (log) => run(process.execPath, ["scripts/e2e/conformance.ts"], into(log)),
  },
  workbenchAsks: {
    title: "Completions, MCP tasks, forms and apps in VS Code",
    beside: true,
    run: (log) => run(process.execPath, ["scripts/e2e/workbenchAsks.ts"], into(log)),
  },
  mcpTasks: {
    title: "MCP tasks, with sidecars that are killed",
    run: () => run(process.execPath, ["scripts/e2e/mcpTasks.ts"]),
  },
  sampling: {
    title: "Sampling, with models on loopback",
    run: () => run(process.execPath, ["scripts/e2e/sampling.ts"]),
  },
  smartDatabase: {
    title: "The smart database, with the demo model",
    run: () => run(process.execPath, ["scripts/e2e/smartDatabase.ts"]),
  },
  terminal: {
    title: "The smart database in a terminal, recorded and replayed",
    run: () => run(process.execPath, ["scripts/e2e/terminal.ts"]),
  },
  realHosts: {
    title: "Real hosts, through the gateway",
    beside: true,
    run: (log) => run(process.execPath, ["scripts/e2e/realHosts.ts"], into(log)),
  },
  browser: {
    title: "The demo in a browser",
    run: () => run(process.execPath, ["scripts/e2e/browser.ts"]),
  },
  longTask: {
    title: "A long task in a browser",
    run: () => run(process.execPath, ["scripts/e2e/longTask.ts"]),
  },
  servers: {
    title: "Servers of others in a browser",
    run: () => run(process.execPath, ["scripts/e2e/thirdParty.ts"]),
  },
  apps: {
    title: "Apps of others in a browser",
    run: () => run(process.execPath, ["scripts/e2e/mcpApps.ts"]),
  },
  hostileApps: {
    title: "Hostile apps in a browser",
    beside: true,
    run: (log) => run(process.execPath, ["scripts/e2e/hostileApps.ts"], into(log)),
  },
  home: {
    title: "Trust, links and the walkthrough in VS Code",
    beside: true,
    run: (log) => run(process.execPath, ["scripts/e2e/home.ts"], into(log)),
  },
  workbench: {
    title: "Extension in VS Code",
    run: () => run(process.execPath, ["scripts/e2e/workbench.ts"]),
  },
  allocations: {
    title: "What the Go benchmarks allocate, and the stack of an open ask",
    async run() {
      await checkAllocations();
      // The race detector's stacks are greater, so the tests above leave it out.
      await run("go", ["test", "-run", "^TestTheStackOfAnOpenAskIsSmall$", "./sidecar/server"]);
    },
  },
};

async function lint(): Promise<void> {
  const unformatted = await output("go", goTool("gofumpt", "-l", ...goFolders));
  if (unformatted !== "") throw new Error(`npm run format would change:\n${unformatted}`);
  await run("go", ["fix", "-diff", "./..."]);
  await run("go", goTool("staticcheck", "./..."));
  await runPackage("@biomejs/biome/bin/biome", ["check", "--error-on-warnings"]);
  await checkTexts();
  await checkGuideTables();
}

interface Report {
  /** For the summary. */
  readonly line: string;
  readonly ok: boolean;
}

/** Runs one step under a heading. */
async function report(name: string, step: Step, log?: number): Promise<Report> {
  const heading = `\n=== ${name}: ${step.title}\n`;
  if (log === undefined) process.stdout.write(heading);
  else writeSync(log, heading);
  const start = performance.now();
  const line = (verdict: string): string => {
    const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
    return `${verdict} ${seconds} s  ${name}: ${step.title}`;
  };
  try {
    await step.run(log);
    return { line: line("ok    "), ok: true };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (log === undefined) console.error(message);
    else writeSync(log, `${message}\n`);
    return { line: line("FAILED"), ok: false };
  }
}

/** As {@link report}, with everything shown at its end. */
async function reportBeside(name: string, step: Step): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "assent-test-"));
  const log = openSync(join(folder, "log"), "w+");
  try {
    const told = await report(name, step, log);
    process.stdout.write(readFileSync(join(folder, "log")));
    return told;
  } finally {
    closeSync(log);
    rmSync(folder, { recursive: true });
  }
}

const { values } = parseArgs({ options: { only: { type: "string" } } });
const chosen = values.only?.split(",") ?? Object.keys(steps);
const unknown = chosen.filter((name) => !Object.hasOwn(steps, name));
if (unknown.length > 0) {
  throw new Error(`no step ${unknown.join(", ")}; there are ${Object.keys(steps).join(", ")}`);
}
const reports: Promise<Report>[] = [];
for (const [name, step] of Object.entries(steps)) {
  if (!chosen.includes(name)) continue;
  if (process.exitCode !== undefined) {
    reports.push(Promise.resolve({ line: `not run            ${name}: ${step.title}`, ok: false }));
    continue;
  }
  const told = step.beside ? reportBeside(name, step) : report(name, step);
  reports.push(told);
  if (!step.beside && !(await told).ok) process.exitCode = 1;
}
const told = await Promise.all(reports);
if (told.some(({ ok }) => !ok)) process.exitCode = 1;
console.log(`\n${told.map(({ line }) => line).join("\n")}`);
