import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { root } from "../tools/lib/paths.ts";

/**
 * Starts what `npm run demo` starts, in a group of its own as a terminal would. The mark, a NAME=value,
 * is in the environment of every process of the demo.
 */
export function startDemo(mark: string, args: readonly string[]): ChildProcess {
  const [name = "", value = ""] = mark.split("=");
  return spawn(process.execPath, ["scripts/run.mjs", "demo/demo", ...args], {
    cwd: root,
    env: { ...process.env, CI: "true", [name]: value },
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** The URL of the demo's page, once the demo has printed it. */
export async function printedUrl(demo: ChildProcess): Promise<URL> {
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
