import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../tools/lib/command.ts";
import { cacheFolder } from "../../tools/lib/paths.ts";

/**
 * The hosts. opencode's own package has an install script, which looks for the program of the machine; this one is it,
 * for all processors.
 */
const packages: Readonly<Record<string, string>> = {
  "@openai/codex": "0.169.0",
  "@google/gemini-cli": "0.61.0",
  "opencode-linux-x64-baseline": "1.18.33",
};

const folder = join(cacheFolder, ["hosts", ...Object.values(packages)].join("-"));

/** A file of the installed packages. */
export function installed(...path: readonly string[]): string {
  return join(folder, "node_modules", ...path);
}

/** Installs the hosts once for each clone, 700 MB, without the scripts of their packages. */
export async function installHosts(): Promise<void> {
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
