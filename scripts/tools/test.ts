// npm test: everything, in the order in which it fails fastest, the slowest beside the others. When a step fails, those
// that do not need it still run. While working on one part, `npm test -- --only lint,go` runs those steps alone. With
// --quick, as in `npm run check`, Go's race detector is off, and of TypeScript's tests only those run that a change
// reached since the last commit at which the check passed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installCodeServer } from "../e2e/codeServer.ts";
import { buildAll } from "./lib/build.ts";
import { output, run, runPackage } from "./lib/command.ts";
import { installDebianPackages } from "./lib/debian.ts";
import { goFolders, goTool } from "./lib/goTools.ts";
import { checkGuideTables } from "./lib/guide.ts";
import { checkTexts } from "./lib/l10n.ts";
import { inMemory } from "./lib/memory.ts";
import { cacheFolder, root } from "./lib/paths.ts";
import { runSteps, type Step } from "./lib/steps.ts";
import { hostTarget, packageFor } from "./lib/vsix.ts";

const { values } = parseArgs({ options: { only: { type: "string" }, quick: { type: "boolean" } } });

/** The steps that make something which others use. */
type Maker = "setup" | "codeServer" | "build" | "package";

/** A story of scripts/e2e, which is a program. */
function story(title: string, name: string, needs: readonly Maker[], beside = false): Step<Maker> {
  return {
    ...{ title, needs, beside },
    run: (show) => run(process.execPath, [`scripts/e2e/${name}.ts`], { onOutput: show }),
  };
}

/** What a story in a browser needs, and one in VS Code. */
const inBrowser = ["setup", "build"] as const;
const inVSCode = ["setup", "codeServer", "package"] as const;

// Every Go command compiles as the build of the product does, so that each package is compiled once.
process.env["CGO_ENABLED"] = "0";
process.env["GOFLAGS"] = "-trimpath";

// Node.js compiles each script once, and strips its types once. The tests start hundreds of processes of the same scripts.
process.env["NODE_COMPILE_CACHE"] ??= join(cacheFolder, "node");

// Vitest writes into a pipe, and the person reads it in a terminal.
if (process.stdout.isTTY) process.env["FORCE_COLOR"] ??= "1";

/**
 * SQLite is C that was translated to Go. The race detector makes it five times as slow to run, and as slow to compile
 * as everything else together. It looks for races in our code, not in SQLite's.
 */
const raceFlags = ["modernc.org/sqlite/lib", "modernc.org/libc"].map(
  (path) => `-gcflags=${path}=-race=false`,
);

/**
 * Its tests start the program a thousand times. With the race detector, a start takes three times as long; the same
 * code is under the detector in the packages' own tests. So this package has the program as it is shipped.
 */
const programTests = "assent/sidecar/test";

/** The commit at which the quick check last passed. */
const checkedFile = join(cacheFolder, "checked");

const steps: Readonly<Record<string, Step<Maker>> & Record<Maker, Step<Maker>>> = {
  setup: { title: "Debian packages", run: installDebianPackages },
  go: {
    title: "Tests of the sidecar's packages",
    needs: ["setup"],
    // It needs the processors for as long as nearly all that follows takes, much of which waits for browsers and servers. The
    // quick check has no such steps, and its linters use the same compiled packages: two at once would each compile them.
    beside: !values.quick,
    async run(show) {
      const packages = (await output("go", ["list", "./..."])).trim().split("\n");
      const tested = packages.filter((path) => path !== programTests);
      const test = ["test", "-timeout=30m", "-vet=off"]; // the linters vet
      if (values.quick) return await run("go", [...test, ...tested], { onOutput: show });
      await inMemory(root, async (env) => {
        // The packages are shared with other clones, and the results of their tests are not.
        await run("go", [...test, "-count=1", "-race", ...raceFlags, ...tested], {
          // A program with the race detector would sleep for a second at its end.
          env: { ...env, CGO_ENABLED: "1", GORACE: "atexit_sleep_ms=0" },
          onOutput: show,
        });
      });
    },
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
    async run(show) {
      const since =
        values.quick && existsSync(checkedFile) ? readFileSync(checkedFile, "utf8") : "";
      const changed = since === "" ? [] : [`--changed=${since}`, "--passWithNoTests"];
      await runPackage("vitest/vitest.mjs", ["run", ...changed], { onOutput: show });
    },
  },
  build: { title: "Build", run: buildAll },
  package: {
    title: "Package for this machine",
    needs: ["build"],
    async run() {
      await packageFor(hostTarget());
    },
  },
  program: {
    title: "Tests of the sidecar as a process",
    needs: ["setup", "build"],
    beside: true,
    run: (show) =>
      run("go", ["test", "-timeout=30m", "-vet=off", programTests], { onOutput: show }),
  },
  install: story("The ways to install, without a network", "install", ["package"]),
  conformance: story("MCP's own conformance suite", "conformance", ["build"], true),
  workbenchAsks: story(
    "Completions, MCP tasks, forms and apps in VS Code",
    "workbenchAsks",
    inVSCode,
    true,
  ),
  mcpTasks: story("MCP tasks, with sidecars that are killed", "mcpTasks", ["build"]),
  sampling: story("Sampling, with models on loopback", "sampling", ["build"]),
  smartDatabase: story("The smart database, with the demo model", "smartDatabase", ["build"]),
  terminal: story("The smart database in a terminal, recorded and replayed", "terminal", ["build"]),
  realHosts: story("Real hosts, through the gateway", "realHosts", ["build"], true),
  browser: story("The demo in a browser", "browser", inBrowser),
  longTask: story("A long task in a browser", "longTask", inBrowser),
  servers: story("Servers of others in a browser", "thirdParty", inBrowser),
  apps: story("Apps of others in a browser", "mcpApps", inBrowser),
  hostileApps: story("Hostile apps in a browser", "hostileApps", inBrowser, true),
  home: story("Trust, links and the walkthrough in VS Code", "home", inVSCode, true),
  workbench: story("Extension in VS Code", "workbench", inVSCode),
};

async function lint(): Promise<void> {
  const unformatted = await output("go", goTool("gofumpt", "-l", ...goFolders));
  if (unformatted !== "") throw new Error(`npm run format would change:\n${unformatted}`);
  await run("go", ["vet", "./..."]);
  await run("go", ["fix", "-diff", "./..."]);
  await run("go", goTool("staticcheck", "./..."));
  await runPackage("@biomejs/biome/bin/biome", ["check", "--error-on-warnings"]);
  await checkTexts();
  await checkGuideTables();
}

const chosen = values.only?.split(",") ?? Object.keys(steps);
const unknown = chosen.filter((name) => !Object.hasOwn(steps, name));
if (unknown.length > 0) {
  throw new Error(`no step ${unknown.join(", ")}; there are ${Object.keys(steps).join(", ")}`);
}
const { ok, lines } = await runSteps(
  Object.fromEntries(Object.entries(steps).filter(([name]) => chosen.includes(name))),
  (text) => process.stdout.write(text),
);
console.log(`\n${lines.join("\n")}`);
if (!ok) process.exitCode = 1;
else if (values.quick) {
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(checkedFile, (await output("git", ["rev-parse", "HEAD"])).trim());
}
