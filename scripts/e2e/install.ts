// The ways to install the program, without a network: the npm packages from their tarballs, by npx and for good, and Go from
// the sources alone.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { packBundle, packDebian } from "../tools/lib/archives.ts";
import { output, runPackage } from "../tools/lib/command.ts";
import { launcherPackage, packLauncher, packProgram, programPackage } from "../tools/lib/npm.ts";
import { root } from "../tools/lib/paths.ts";
import { version } from "../tools/lib/version.ts";
import { hostTarget } from "../tools/lib/vsix.ts";
import { runDocuments } from "./documentCommands.ts";
import { step } from "./step.ts";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const folder = await mkdtemp(join(tmpdir(), "assent-npm-"));
const home = join(folder, "home");
const work = join(folder, "work");
const prefix = join(folder, "global");
const hostFile = join(home, ".cursor", "mcp.json");
const before = '{"mcpServers": {"shop": {"command": "shop-server"}}}';
const env = {
  ...process.env,
  HOME: home,
  XDG_CONFIG_HOME: join(home, ".config"),
  npm_config_cache: join(folder, "cache"),
  npm_config_offline: "true",
  npm_config_prefix: prefix,
  npm_config_update_notifier: "false",
  ASSENT_DAEMON_DIR: join(folder, "daemon"),
};

/** Runs a command in an empty folder, to its end. */
async function run(command: string, ...args: readonly string[]): Promise<Ended> {
  try {
    return { code: 0, ...(await promisify(execFile)(command, args, { cwd: work, env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as Ended;
    return { code, stdout, stderr };
  }
}

async function succeed(command: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command, ...args);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** The names of the tools that a gateway lists, as Claude Desktop asks for them. */
async function toolsOf(program: string, args: readonly string[]): Promise<readonly string[]> {
  const gateway = spawn(program, args, { cwd: work, env, stdio: ["pipe", "pipe", "inherit"] });
  const send = (message: object): void => {
    gateway.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const clientInfo = { name: "claude-ai", version: "0.1.0" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  send({ id: 0, method: "initialize", params });
  try {
    for await (const line of createInterface({ input: gateway.stdout })) {
      const { id, result } = JSON.parse(line);
      if (id === 0) {
        send({ method: "notifications/initialized" });
        send({ id: 1, method: "tools/list" });
      }
      if (id === 1) return result.tools.map((tool: { name: string }) => tool.name);
    }
    throw new Error("the gateway ended");
  } finally {
    gateway.stdin.end();
  }
}

try {
  await mkdir(work);
  await mkdir(join(home, ".cursor"), { recursive: true });
  await writeFile(hostFile, before);
  const target = hostTarget();
  const [launcher, program] = [await packLauncher(), await packProgram(target)];
  const npx = ["--yes", "--package", launcher, "--package", program, "assent"];

  await step("npx runs the program, and ends with its code", async () => {
    assert.equal(await succeed("npx", ...npx, "version"), `${version}\n`);
    assert.equal((await run("npx", ...npx, "no-such-command")).code, 2);
  });
  await step(
    "setup by npx shows its plan, and does not have hosts start what npm may remove",
    async () => {
      assert.match(await succeed("npx", ...npx, "setup"), /^shop +shop-server +Cursor +Cursor$/m);
      const { code, stderr } = await run("npx", ...npx, "setup", "--yes");
      assert.equal(code, 3, stderr);
      assert.match(stderr, /npm install --global/);
      assert.equal(await readFile(hostFile, "utf8"), before);
    },
  );
  await step("a global installation sets up a host, which starts the program itself", async () => {
    await succeed("npm", "install", "--global", launcher, program);
    const assent = join(prefix, "bin", "assent");
    await succeed(assent, "setup", "--yes");
    const text = await readFile(hostFile, "utf8");
    const { command, args } = JSON.parse(text).mcpServers.shop;
    assert.deepEqual(args, ["gateway", "--own", "--host", "cursor", "shop"]);
    assert(command.includes(programPackage(target)), text);
    assert.equal(await succeed(command, "version"), `${version}\n`);
    await succeed(assent, "restore");
    assert.equal(await readFile(hostFile, "utf8"), before);
  });
  await step("without this machine's package, the launcher says so", async () => {
    await succeed("npm", "uninstall", "--global", programPackage(target));
    const { code, stderr } = await run(join(prefix, "bin", "assent"), "version");
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`the package ${programPackage(target)} is missing`));
    await succeed("npm", "uninstall", "--global", launcherPackage);
  });
  await step(
    "Go installs it from the sources alone, without the panel, and it says so",
    async () => {
      const clone = join(folder, "clone");
      const sources = ["go.mod", "go.sum", "protocol", "sidecar"];
      const listed = await output("git", ["ls-files", "-z", ...sources]);
      for (const name of listed.split("\0").filter((each) => each !== "")) {
        await mkdir(dirname(join(clone, name)), { recursive: true });
        await copyFile(join(root, name), join(clone, name));
      }
      const goEnv = { CGO_ENABLED: "0", GOBIN: join(folder, "bin"), GOPROXY: "off" };
      const readme = await readFile(join(root, "README.md"), "utf8");
      const [, ...install] = /^go install [^ ]+/m.exec(readme)?.[0].split(" ") ?? [];
      await output("go", install, { cwd: clone, env: goEnv });
      const installed = join(folder, "bin", "assent");
      assert.equal(await succeed(installed, "version"), "dev\n");
      const { code, stderr } = await run(installed, "open", "--print");
      await succeed(installed, "daemon", "stop", "--force");
      assert.equal(code, 0, stderr);
      assert.match(stderr, /built without the panel: .* npm run build/);
    },
  );
  await step("Debian's package is installed into an empty root, and runs there", async () => {
    const empty = join(folder, "root");
    const database = join(empty, "var", "lib", "dpkg");
    for (const name of ["info", "updates"]) await mkdir(join(database, name), { recursive: true });
    await writeFile(join(database, "status"), "");
    const asRoot = process.getuid?.() === 0 ? ["env"] : ["unshare", "--map-root-user"];
    const inRoot = async (...command: readonly string[]): Promise<string> =>
      await succeed(...([...asRoot, ...command] as [string, ...string[]]));
    await inRoot("dpkg", `--root=${empty}`, "--install", await packDebian(target));
    assert.equal(await inRoot("chroot", empty, "/usr/bin/assent", "version"), `${version}\n`);
    await inRoot("dpkg", `--root=${empty}`, "--remove", "assent");
    await assert.rejects(readFile(join(empty, "usr", "bin", "assent")), { code: "ENOENT" });
  });
  await step("the bundle for Claude Desktop is valid, and lists a server's tools", async () => {
    const bundle = join(folder, "bundle");
    const mcpb = "@anthropic-ai/mcpb/dist/cli/cli.js";
    await runPackage(mcpb, ["unpack", await packBundle(target), bundle]);
    await runPackage(mcpb, ["validate", join(bundle, "manifest.json")]);
    const { server } = JSON.parse(await readFile(join(bundle, "manifest.json"), "utf8"));
    const { command, args } = server.mcp_config;
    const program = command.replace(/^\$\{__dirname\}/, bundle);
    const own = JSON.stringify({
      servers: { demo: { command: program, args: ["example-server"] } },
    });
    await mkdir(join(home, ".config", "assent"), { recursive: true });
    await writeFile(join(home, ".config", "assent", "mcp.json"), own);
    try {
      const names = await toolsOf(program, args);
      assert(names.includes("demo__plan_lunch"), names.join(", "));
    } finally {
      await succeed(program, "daemon", "stop", "--force");
    }
  });
  await runDocuments(folder, env);
} finally {
  await rm(folder, { recursive: true, force: true });
}
