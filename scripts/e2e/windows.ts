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
];
/** Tests that need what Wine or its root lacks: a resolver, and enough processors for a second's limit. */
const left = "TestNoTokenWithoutAPerson|TestIssuerOfTheConfigurationOnAnotherHost|TestABundle";

const wine = join(cacheFolder, "wine");
const drive = join(wine, "work");

if (!existsSync(join(wine, "usr", "bin", "wine"))) {
  await rm(wine, { recursive: true, force: true });
  await mkdir(cacheFolder, { recursive: true });
  await run("mmdebstrap", ["--variant=minbase", "--include=wine,wine64", "trixie", wine]);
}
await mkdir(join(wine, "sources"), { recursive: true });
await rm(drive, { recursive: true, force: true });
await mkdir(drive);

/** Runs a program in Wine, in a folder of Wine's root, and returns its output. */
async function windows(folder: string, ...command: readonly string[]): Promise<string> {
  const mounts = [
    ...[`mount -t proc proc ${wine}/proc`, `mount --bind /dev ${wine}/dev`],
    `mount --bind -o ro ${root} ${wine}/sources`,
  ];
  const env = [
    ...["HOME=/root", "LANG=C.UTF-8", "PATH=/usr/bin:/bin", "WINEDEBUG=-all"],
    ...["WINEPATH=Z:\\work", "XDG_RUNTIME_DIR=/tmp"],
  ];
  const inside = `cd ${folder} && exec wine "$@"`;
  const script = `${mounts.join(" && ")} && exec chroot ${wine} env -i ${env.map((each) => `'${each}'`).join(" ")} sh -c '${inside}' sh "$@"`;
  return (await allOutput("unshare", ["--mount", "sh", "-c", script, "sh", ...command])).replaceAll(
    "\r",
    "",
  );
}

await step("the program and its tests are compiled", async () => {
  await buildSidecar(join(drive, "assent.exe"), { os: "windows", arch: "amd64" });
  const env = { CGO_ENABLED: "0", GOFLAGS: "-trimpath", GOOS: "windows", GOARCH: "amd64" };
  const packages = tested.map((path) => `./sidecar/${path}`);
  await output("go", ["test", "-c", "-vet=off", "-o", `${drive}/`, ...packages], { env });
});

const listed = JSON.parse(
  `[${(await output("go", ["list", "-f", '{{if or .TestGoFiles .XTestGoFiles}}"{{.ImportPath}}",{{end}}', ...tested.map((path) => `./sidecar/${path}`)])).trim().replace(/,$/, "")}]`,
) as readonly string[];
const failed: string[] = [];
for (const path of listed) {
  const program = join(drive, `${basename(path)}.test.exe`);
  if (!existsSync(program)) continue; // its tests are for Unix
  try {
    await step(`tests of ${path}`, async () => {
      await windows(
        path.replace(/^assent/, "/sources"),
        `Z:\\work\\${basename(program)}`,
        `-test.skip=${left}`,
      );
    });
  } catch {
    failed.push(path);
  }
}

await step("a call asks, is answered, and its journal is whole", async () => {
  const rules =
    "answers:\n  - match: { kind: form }\n    answer: {}\n  - match: { kind: completion }\n    completion: Soup.\n";
  await writeFile(join(drive, "answers.yaml"), rules);
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
