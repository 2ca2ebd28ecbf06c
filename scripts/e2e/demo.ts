import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../tools/lib/paths.ts";
import { assertNoneLeft, stopGroup } from "./processes.ts";
import { step } from "./step.ts";

/** Where a demo works. */
export interface DemoPlace {
  /** Has the demo's workspace, its tasks and its daemon. */
  readonly folder: string;
  readonly workspace: string;
  /** A NAME=value in the environment of every process of the demo. */
  readonly mark: string;
}

export interface RunningDemo extends DemoPlace {
  readonly process: ChildProcess;
  /** The address that it printed. */
  readonly url: URL;
}

/** The servers and files before the demo starts. */
export interface DemoOptions {
  /** Returns the servers of a workspace that is trusted, in the shape of mcp.json; without it, there are the examples. */
  readonly servers?: (place: DemoPlace) => Promise<object> | object;
  /** The workspace is empty and not trusted. */
  readonly empty?: true;
  readonly prepare?: (place: DemoPlace) => Promise<void>;
}

/** Runs a story on the demo of `npm run demo`, in a separate folder. No process of it is left. */
export async function withDemo(
  name: string,
  { servers, empty, prepare }: DemoOptions,
  tell: (demo: RunningDemo) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `assent-${name}-`));
  const workspace = join(folder, "workspace");
  const place: DemoPlace = { folder, workspace, mark: `ASSENT_E2E=${randomUUID()}` };
  try {
    await prepare?.(place);
    if (servers !== undefined) {
      await mkdir(join(workspace, ".vscode"), { recursive: true });
      const configuration = JSON.stringify({ servers: await servers(place) });
      await writeFile(join(workspace, ".vscode", "mcp.json"), configuration);
    }
    const process = startDemo(place, [
      ...(servers !== undefined || empty ? ["--workspace", workspace] : []),
      ...(servers !== undefined ? ["--trust"] : []),
    ]);
    try {
      const url = await step("the demo prints its URL", () => printedUrl(process));
      await tell({ ...place, process, url });
    } finally {
      await stopGroup(process);
      await assertNoneLeft(place.mark);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts it in a group of its own, as a terminal would. */
function startDemo({ folder, mark }: DemoPlace, args: readonly string[]): ChildProcess {
  const [name = "", value = ""] = mark.split("=");
  return spawn(process.execPath, ["scripts/run.mjs", "demo/demo", "--folder", folder, ...args], {
    cwd: root,
    env: { ...process.env, CI: "true", [name]: value },
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** The URL of the demo's page, once the demo has printed it. */
async function printedUrl(demo: ChildProcess): Promise<URL> {
  if (demo.stdout === null) assert.fail("the demo has no stdout");
  const before: string[] = [];
  for await (const line of createInterface({ input: demo.stdout })) {
    const url = /http:\S+/.exec(line);
    if (url === null) before.push(line);
    else {
      assert(
        before.includes("Building the panel and the sidecar…"),
        "the demo says what it does until then",
      );
      return new URL(url[0]);
    }
  }
  return assert.fail("the demo ended without printing a URL");
}
