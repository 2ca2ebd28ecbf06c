import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./command.ts";

/** A program that the tests need besides Go and Node.js, and its Debian packages. */
const needs = [
  { program: "chromium", packages: ["chromium", "fonts-liberation"], why: "the browser tests" },
  { program: "gcc", packages: ["gcc", "libc6-dev"], why: "Go's race detector" },
] as const;

/** Installs missing packages if run as root. Otherwise it says what to install. */
export async function installDebianPackages(): Promise<void> {
  const missing = needs.filter(({ program }) => !isOnPath(program));
  if (missing.length === 0) return;
  const packages = missing.flatMap((need) => need.packages);
  if (process.getuid?.() !== 0 || !isOnPath("apt-get")) {
    const reasons = missing.map(({ program, why }) => `${program} for ${why}`).join(", ");
    throw new Error(
      `this machine lacks ${reasons}. On Debian: sudo apt-get install ${packages.join(" ")}`,
    );
  }
  await aptGet("update", "-qq");
  await aptGet("install", "-y", "-qq", "--no-install-recommends", ...packages);
}

/** Two that run apt-get at once disturb each other, so the second waits. */
async function aptGet(...args: readonly string[]): Promise<void> {
  await run("flock", ["/run/lock/assent-apt-get", "apt-get", ...args], {
    env: { DEBIAN_FRONTEND: "noninteractive" },
  });
}

function isOnPath(program: string): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((folder) => existsSync(join(folder, program)));
}
