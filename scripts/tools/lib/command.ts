import { type SpawnOptions, spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { root } from "./paths.ts";

export interface CommandOptions {
  readonly cwd?: string;
  /** Variables on top of this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Gets what {@link run} would show. */
  readonly onOutput?: (text: string) => void;
}

/** Runs a command to its end with its output shown, or given away; fails when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<void> {
  const to = options.onOutput === undefined ? "inherit" : "pipe";
  await finish(command, args, options, ["ignore", to, to]);
}

/** Runs a command to its end and returns its stdout. Its stderr is shown. */
export async function output(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  return await finish(command, args, options, ["ignore", "pipe", "inherit"]);
}

/** Like {@link output}, but returns stdout and stderr as they came. All of it is shown, too. */
export async function allOutput(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  return await finish(command, args, options, ["ignore", "pipe", "pipe"]);
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
    let written = "";
    const take = (text: string): void => {
      if (options.onOutput !== undefined) options.onOutput(text);
      else {
        written += text;
        if (child.stderr !== null) process.stderr.write(text);
      }
    };
    child.stdout?.setEncoding("utf8").on("data", take);
    child.stderr?.setEncoding("utf8").on("data", take);
    child.on("error", (error) => reject(new Error(`${command}: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(written);
      else reject(new Error(`${[command, ...args].join(" ")}: ${signal ?? `exit status ${code}`}`));
    });
  });
}
