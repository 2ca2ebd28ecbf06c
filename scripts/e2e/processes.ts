import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, waitLimit } from "./eventually.ts";

/** The ports that this process has given out. The system may choose one again before its server listens. */
const given = new Set<number>();

/** Returns a free port of the loopback interface, another one at each call. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no TCP address");
  if (given.has(address.port)) return await freePort();
  given.add(address.port);
  return address.port;
}

/** Waits until a server of another process answers with success; fails when that process ends. */
export async function waitForHttp(url: string, server: ChildProcess): Promise<void> {
  await eventually(`an answer from ${url}`, async () => {
    if (hasEnded(server)) throw new Error("the process ended");
    try {
      return (await fetch(url)).ok || undefined;
    } catch {
      return undefined; // it does not listen yet
    }
  });
}

/** Ends a detached process and everything in its group, with force where asking does not help. */
export async function stopGroup(leader: ChildProcess): Promise<void> {
  const pid = leader.pid;
  if (pid === undefined) return;
  const ended = hasEnded(leader) ? Promise.resolve() : once(leader, "exit");
  signalGroup(pid, "SIGTERM");
  await Promise.race([ended, sleep(waitLimit, undefined, { ref: false })]);
  signalGroup(pid, "SIGKILL");
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** The processes of this machine that have a text in their environment, which children inherit. */
export async function processesMarked(mark: string): Promise<readonly number[]> {
  const marked: number[] = [];
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    if ((await readProc(pid, "environ")).includes(mark)) marked.push(pid);
  }
  return marked;
}

/** The command line of a process, empty when it has ended. */
export async function commandLine(pid: number): Promise<string> {
  return (await readProc(pid, "cmdline")).replaceAll("\0", " ").trim();
}

/** Whether the system has stopped a process, as SIGSTOP asks: proc_pid_stat(5). */
export async function isStopped(pid: number): Promise<boolean> {
  return / T \d+/.test(await readProc(pid, "stat"));
}

/** Fails, and ends them, when there are processes left that a run should have taken with it. */
export async function assertNoneLeft(mark: string): Promise<void> {
  let left: readonly number[] = [];
  // A killed process takes a moment to leave /proc.
  for (const end = performance.now() + waitLimit; performance.now() < end; await sleep(100)) {
    left = await processesMarked(mark);
    if (left.length === 0) return;
  }
  const lines = await Promise.all(left.map(async (pid) => `${pid} ${await commandLine(pid)}`));
  for (const pid of left) process.kill(pid, "SIGKILL");
  throw new Error(`processes were left behind:\n${lines.join("\n")}`);
}

/** A file of /proc, empty when the process has ended or is another user's. */
async function readProc(pid: number, file: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
