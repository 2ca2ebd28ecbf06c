import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../tools/lib/command.ts";
import { cacheFolder } from "../../tools/lib/paths.ts";

/** Packages of the npm registry, with their versions. */
type Packages = Readonly<Record<string, string>>;

/**
 * The hosts with open licences. opencode's own package has an install script, which looks for the program of the
 * machine; this one is it, for all processors.
 */
export const openHosts: Packages = {
  "@openai/codex": "0.171.0",
  "@google/gemini-cli": "0.61.0",
  "@qwen-code/qwen-code": "0.24.4",
  "opencode-linux-x64-baseline": "1.18.33",
};

/** The hosts with licences that a person has to accept. */
export const licensedHosts: Packages = {
  "@anthropic-ai/claude-code-linux-x64": "2.1.332",
  "@github/copilot-linux-x64": "1.0.102",
};

/** The agents whose own questions come to Assent, with licences that a person has to accept. */
export const licensedAgents: Packages = {
  "@anthropic-ai/claude-code-linux-x64": "2.1.332",
};

function folderOf(packages: Packages): string {
  return join(cacheFolder, ["hosts", ...Object.values(packages)].join("-"));
}

/** A file of installed packages. */
export function installed(packages: Packages, ...path: readonly string[]): string {
  return join(folderOf(packages), "node_modules", ...path);
}

/** Installs packages once for each clone, some 700 MB, without their scripts. */
export async function install(packages: Packages): Promise<void> {
  const folder = folderOf(packages);
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error("real hosts are tested on Linux on x64 alone");
  }
  const stamp = join(folder, "installed");
  if (existsSync(stamp)) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "private": true }\n');
  const what = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const flags = ["--no-save", "--no-package-lock", ...quiet];
  await run("npm", ["install", ...flags, ...what], { cwd: folder });
  await writeFile(stamp, "");
}
