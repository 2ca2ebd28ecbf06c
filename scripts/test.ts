// npm test: everything, in the order in which it fails fastest. While working on one part,
// `npm test -- --only lint,go` runs those steps alone.
import { parseArgs } from "node:util";
import { installCodeServer } from "./e2e/codeServer.ts";
import { buildAll } from "./setup/build.ts";
import { output, run, runPackage } from "./setup/command.ts";
import { installDebianPackages } from "./setup/debian.ts";
import { goFolders, goTool } from "./setup/goTools.ts";
import { checkTexts } from "./setup/l10n.ts";
import { hostTarget, packageFor } from "./setup/vsix.ts";

interface Step {
  readonly title: string;
  run(): Promise<void>;
}

const steps: Readonly<Record<string, Step>> = {
  setup: {
    title: "Debian packages and code-server",
    async run() {
      await installDebianPackages();
      await installCodeServer();
    },
  },
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
  go: {
    title: "Tests of the sidecar",
    run: () => run("go", ["test", "-race", "./..."], { env: { CGO_ENABLED: "1" } }),
  },
  build: { title: "Build", run: buildAll },
  conformance: {
    title: "MCP's own conformance suite",
    run: () => run(process.execPath, ["scripts/conformance.ts"]),
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
  package: {
    title: "Package for this machine",
    async run() {
      await packageFor(hostTarget());
    },
  },
  playground: {
    title: "Playground in a browser",
    run: () => run(process.execPath, ["scripts/e2e/playground.ts"]),
  },
  longTask: {
    title: "A long task in a browser",
    run: () => run(process.execPath, ["scripts/e2e/longTask.ts"]),
  },
  servers: {
    title: "Servers of others in the playground",
    run: () => run(process.execPath, ["scripts/e2e/thirdParty.ts"]),
  },
  home: {
    title: "Trust, links and the walkthrough in VS Code",
    run: () => run(process.execPath, ["scripts/e2e/home.ts"]),
  },
  workbench: {
    title: "Extension in VS Code",
    run: () => run(process.execPath, ["scripts/e2e/workbench.ts"]),
  },
};

async function lint(): Promise<void> {
  const unformatted = await output("go", goTool("gofumpt", "-l", ...goFolders));
  if (unformatted !== "") throw new Error(`npm run format would change:\n${unformatted}`);
  await run("go", ["vet", "./..."]);
  await run("go", ["fix", "-diff", "./..."]);
  await run("go", goTool("staticcheck", "./..."));
  await runPackage("@biomejs/biome/bin/biome", ["check", "--error-on-warnings"]);
  await checkTexts();
}

/** Runs one step under a heading; returns a line for the summary, and whether it went well. */
async function report(name: string, step: Step): Promise<[line: string, ok: boolean]> {
  console.log(`\n=== ${name}: ${step.title}`);
  const start = performance.now();
  const line = (verdict: string): string => {
    const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(6);
    return `${verdict} ${seconds} s  ${name}: ${step.title}`;
  };
  try {
    await step.run();
    return [line("ok    "), true];
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return [line("FAILED"), false];
  }
}

const { values } = parseArgs({ options: { only: { type: "string" } } });
const chosen = values.only?.split(",") ?? Object.keys(steps);
const unknown = chosen.filter((name) => !Object.hasOwn(steps, name));
if (unknown.length > 0) {
  throw new Error(`no step ${unknown.join(", ")}; there are ${Object.keys(steps).join(", ")}`);
}
const summary: string[] = [];
for (const [name, step] of Object.entries(steps)) {
  if (!chosen.includes(name)) continue;
  if (process.exitCode !== undefined) {
    summary.push(`not run            ${name}: ${step.title}`);
    continue;
  }
  const [line, ok] = await report(name, step);
  summary.push(line);
  if (!ok) process.exitCode = 1;
}
console.log(`\n${summary.join("\n")}`);
