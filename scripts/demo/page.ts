import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { sidecarBinary } from "../tools/lib/paths.ts";
import { examplePrompts } from "./exampleServers.ts";

/** A demo: its folder and its servers. */
export interface Demo {
  /** Has the demo's workspace, its tasks and its daemon. */
  readonly folder: string;
  /** A workspace of the person's own; absent for the demo's, with the example servers. */
  readonly workspace?: string;
  readonly trust?: boolean;
  readonly logLevel?: string;
}

/** The environment of the demo's daemon, which ends with the demo: the person's own may be of another version. */
export function demoEnvironment({ folder }: Demo): NodeJS.ProcessEnv {
  return { ...process.env, ASSENT_DAEMON_DIR: resolve(folder, "daemon") };
}

/** Opens a page of the demo in the person's browser, or only returns its address, which is valid once. */
export async function openPage(demo: Demo, inBrowser = false): Promise<string> {
  const { folder, workspace, trust = false, logLevel = "warn" } = demo;
  const isOwn = workspace === undefined;
  const args = [
    "open",
    ...["--data-dir", resolve(folder, "data"), "--log-level", logLevel],
    ...(isOwn || trust ? ["--trust"] : []),
    // Tasks for the offline model are suggested only if its servers are configured.
    ...(isOwn ? examplePrompts.flatMap((prompt) => ["--prompt", prompt]) : []),
    ...(inBrowser ? [] : ["--print"]),
  ];
  const { stdout } = await promisify(execFile)(sidecarBinary, args, {
    cwd: resolve(workspace ?? join(folder, "workspace")),
    env: demoEnvironment(demo),
  });
  return stdout.trim();
}
