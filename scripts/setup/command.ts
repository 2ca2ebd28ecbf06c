import { type SpawnOptions, spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { root } from "./paths.ts";

export interface CommandOptions {
  readonly cwd?: string;
  /** Variables on top of this process's own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command to its end with its output shown; fails when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<void> {
  await finish(command, args, options, ["ignore", "inherit", "inherit"]);
}

/** Runs a command to its end and returns what it wrote to stdout; its stderr is shown. */
export async function output(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  return await finish(command, args, options, ["ignore", "pipe", "inherit"]);
}

/** Runs a program of the npm packages by its file under node_modules. */
export async function runPackage(
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<void> {
  await run(process.execPath, [join(root, "node_modules", file), ...args], options);
}

function finish(
  command: string,
  args: readonly string[],
  options: CommandOptions,
  stdio: NonNullable<SpawnOptions["stdio"]>,
): Promise<string> {
  // Programs that start `node` by name get the one that runs this script.
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const env = { ...process.env, PATH: path, ...options.env };
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: options.cwd ?? root, env, stdio });
    let stdout = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.on("error", (error) => reject(new Error(`${command}: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`${[command, ...args].join(" ")}: ${signal ?? `exit status ${code}`}`));
    });
  });
}
