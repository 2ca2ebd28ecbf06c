import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the tests' files and what is compiled for them take at most, twice over. */
const room = 2 ** 33;

/**
 * Runs tests of Go with the environment that puts their files into memory, where this machine has the room. They write
 * thousands of files through to the disk, and beside other work wait minutes for it. GOTMPDIR would keep what is compiled on
 * the disk, but since Go 1.26 the tests' own folders, too. Each owner has one
 * folder, and one run at a time.
 */
export async function inMemory(
  owner: string,
  run: (env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  const folder = memoryFolder(owner);
  if (folder === undefined) return await run({});
  try {
    await run({ TMPDIR: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A new folder in memory in which programs may run, or undefined. Its path is short, since sockets have short paths, and
 * always the same, so that a run removes what a killed one left.
 */
function memoryFolder(owner: string): string | undefined {
  let folder: string | undefined;
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    if (bavail * bsize < room) return undefined;
    const name = createHash("sha256").update(owner).digest("hex").slice(0, 8);
    rmSync(`/dev/shm/${name}`, { recursive: true, force: true });
    mkdirSync(`/dev/shm/${name}`, { mode: 0o700 });
    folder = `/dev/shm/${name}`;
    const program = join(folder, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    execFileSync(program); // containers often forbid it
    return folder;
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}
