import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { sidecarBinary } from "../tools/lib/paths.ts";

/** A person's machine: an empty home, a workspace, and a daemon of its own. */
export interface Machine {
  /** Has all of it. */
  readonly folder: string;
  readonly home: string;
  readonly workspace: string;
  /** Runs `assent` in the workspace, and returns its output. */
  assent(...args: readonly string[]): Promise<string>;
  /** Prints the address of a new page of the panel. */
  openPage(): Promise<string>;
  /** Writes a file. Its path is relative to the machine's folder. */
  write(path: string, text: string, mode?: number): Promise<void>;
}

/** Tells a story of a machine, which is gone afterwards. Its environment is added to this process's own. */
export async function onMachine(
  name: string,
  environment: (folder: string) => Readonly<Record<string, string>>,
  tell: (machine: Machine) => Promise<void>,
): Promise<void> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `assent-${name}-`)));
  const [home, workspace] = [join(folder, "home"), join(folder, "workspace")];
  const env = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    ASSENT_DAEMON_DIR: join(folder, "daemon"),
    ...environment(folder),
  };
  const assent = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)(sidecarBinary, args, { cwd: workspace, env })).stdout.trim();
  try {
    for (const path of [home, workspace]) await mkdir(path);
    await tell({
      ...{ folder, home, workspace, assent },
      openPage: () => assent("open", "--print", "--data-dir", join(folder, "data")),
      write: async (path, text, mode = 0o600) => {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text, { mode });
      },
    });
  } finally {
    await assent("daemon", "stop", "--force");
    await rm(folder, { recursive: true, force: true });
  }
}
