import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What the tests' files take at most, many times over. */
const room = 2 ** 31;

/**
 * Runs tests of Go with the environment that puts their files into memory, where this machine has the room. They write
 * thousands of files through to the disk, and beside other work wait minutes for it. What the compiler makes stays on the
 * disk.
 */
export async function inMemory(
  run: (env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  const folder = memoryFolder();
  if (folder === undefined) return await run({});
  try {
    await run({ TMPDIR: folder, GOTMPDIR: tmpdir() });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A new folder in memory in which programs may run, or undefined. Its path is short, since sockets have short paths. */
function memoryFolder(): string | undefined {
  let folder: string | undefined;
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    if (bavail * bsize < room) return undefined;
    folder = mkdtempSync("/dev/shm/a");
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    execFileSync(program); // containers often forbid it
    return folder;
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}
