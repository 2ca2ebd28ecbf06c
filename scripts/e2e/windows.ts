// npm run windows: the program for Windows under Wine 10, which Debian 13 has. It needs root and mmdebstrap, and gets a root
// of its own for Wine, of 1.1 GB. The daemon does not run here: at its pipe, Wine accepts connections that no process serves.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { buildSidecar } from "../tools/lib/build.ts";
import { allOutput, output, run } from "../tools/lib/command.ts";
import { cacheFolder, root } from "../tools/lib/paths.ts";
import { step } from "./step.ts";

/** Packages with tests that Wine can run: not those that start a daemon, or build programs. */
const tested = [
  ...["base/...", "broker/...", "browser", "chat", "config/...", "gateway/...", "hub/diagnose"],
  ...["hub/exchange", "hub/session", "model", "setup/...", "task/...", "terminal/...", "wire/..."],
].map((path) => `./sidecar/${path}`);

const wine = join(cacheFolder, "wine");
const drive = join(wine, "work");

if (!existsSync(join(wine, "usr", "lib", "wine", "wineserver64"))) {
  await rm(wine, { recursive: true, force: true });
  await mkdir(cacheFolder, { recursive: true });
  await run("mmdebstrap", ["--variant=minbase", "--include=wine,wine64", "trixie", wine]);
}
await writeFile(join(wine, "etc", "hosts"), "127.0.0.1 localhost\n");
await mkdir(join(wine, "sources"), { recursive: true });
await rm(drive, { recursive: true, force: true });
await mkdir(drive);

/** What runs in Wine's root: its mounts, and then the arguments, in the folder that is the first of them. */
const script = `
  mount -t proc proc "$WINE_ROOT/proc"
  mount --bind /dev "$WINE_ROOT/dev"
  mount --bind -o ro "$SOURCES" "$WINE_ROOT/sources"
  exec chroot "$WINE_ROOT" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/bin:/bin XDG_RUNTIME_DIR=/tmp \
    WINEDEBUG=-all 'WINEPATH=Z:\\work' sh -c 'cd "$1" && shift && exec wine "$@"' sh "$@"`;

/** Runs a program of the drive in Wine, in a folder of Wine's root, and returns its output. */
async function windows(folder: string, program: string, ...args: string[]): Promise<string> {
  const inRoot = ["--mount", "sh", "-ec", script, "sh", folder, `Z:\\work\\${program}`, ...args];
  const env = { WINE_ROOT: wine, SOURCES: root };
  return (await allOutput("unshare", inRoot, { env })).replaceAll("\r", "");
}

await step("the program and its tests are compiled", async () => {
  await buildSidecar(join(drive, "assent.exe"), { os: "windows", arch: "amd64" });
  const env = { CGO_ENABLED: "0", GOFLAGS: "-trimpath", GOOS: "windows", GOARCH: "amd64" };
  await output("go", ["test", "-c", "-vet=off", "-o", `${drive}/`, ...tested], { env });
});

const failed: string[] = [];
for (const path of (await output("go", ["list", ...tested])).trim().split("\n")) {
  const program = `${basename(path)}.test.exe`;
  if (!existsSync(join(drive, program))) continue; // it has no tests, or they are for Unix
  try {
    const folder = path.replace(/^assent/, "/sources");
    await step(`tests of ${path}`, () => windows(folder, program));
  } catch {
    failed.push(path);
  }
}

await step("a call asks, is answered, and its journal is whole", async () => {
  const rules = { answers: [{ match: { kind: "form" }, answer: {} }, { completion: "Soup." }] };
  await writeFile(join(drive, "answers.yaml"), JSON.stringify(rules)); // JSON is YAML, too
  const kept = ["--data-dir", "C:\\kept"];
  const example = ["--", "Z:\\work\\assent.exe", "example-server"];
  const call = ["call", "plan_lunch", "--standalone", ...kept, "--answers", "answers.yaml"];
  assert.match(await windows("/work", "assent.exe", ...call, ...example), /Soup/);
  assert.match(await windows("/work", "assent.exe", "journal", "verify", ...kept), /is whole/);
});

await step("setup changes a host's file, and restore brings it back byte for byte", async () => {
  const home = join(wine, "root", ".wine", "drive_c", "users", "root");
  const file = join(home, ".cursor", "mcp.json");
  await mkdir(join(home, ".cursor"), { recursive: true });
  const before = '// mine\r\n{"mcpServers": {"shop": {"command": "shop.exe"}}}\r\n';
  await writeFile(file, before);
  await windows("/work", "assent.exe", "setup", "--yes");
  assert.match(await readFile(file, "utf8"), /"gateway", "--own", "--host", "cursor", "shop"/);
  await windows("/work", "assent.exe", "restore");
  assert.equal(await readFile(file, "utf8"), before);
});

if (failed.length > 0) {
  console.error(`under Wine, tests failed in ${failed.join(", ")}`);
  process.exitCode = 1;
}
