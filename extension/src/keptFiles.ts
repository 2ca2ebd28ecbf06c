import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AttachedFile } from "@assent/protocol";
import type { KeepFileResult, KeptFileResult } from "@assent/protocol/host";

/** The most bytes of all files together. Beyond that, the oldest files are removed. */
const mostBytes = 64 * 1024 * 1024;

/** How long an unsent file is kept, in milliseconds. */
const mostAge = 30 * 24 * 60 * 60 * 1000;

/**
 * Stores the attachments of unsent messages in a folder of their own, because the panel's page loses its memory when it
 * is hidden. Several windows may use the same folder.
 */
export class KeptFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves when the file is on disk. */
  async keep(file: AttachedFile): Promise<KeepFileResult> {
    const id = randomUUID();
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFile(this.#path(id), JSON.stringify(file), { mode: 0o600, flag: "wx" });
    await this.#makeRoom();
    return { id };
  }

  /** Resolves to nothing if the file is gone. */
  async read(id: string): Promise<KeptFileResult> {
    try {
      return { file: JSON.parse(await readFile(this.#path(id), "utf8")) as AttachedFile };
    } catch (error) {
      if (isGone(error)) return {};
      throw error;
    }
  }

  async forget(ids: readonly string[]): Promise<null> {
    await Promise.all(ids.map((id) => rm(this.#path(id), { force: true })));
    return null;
  }

  /** A page can name only files that it stored, and no other file of the machine. */
  #path(id: string): string {
    if (!/^[\da-f-]{36}$/.test(id)) throw new Error(`${id} is not the id of a kept file`);
    return join(this.#folder, `${id}.json`);
  }

  async #makeRoom(): Promise<void> {
    const names = await readdir(this.#folder);
    const found = await Promise.all(names.map((name) => this.#look(name)));
    const files = found.filter((file) => file !== undefined);
    let bytes = 0;
    for (const { path, size, mtimeMs } of files.toSorted((a, b) => b.mtimeMs - a.mtimeMs)) {
      bytes += size;
      if (bytes > mostBytes || Date.now() - mtimeMs > mostAge) await rm(path, { force: true });
    }
  }

  async #look(name: string) {
    const path = join(this.#folder, name);
    try {
      const { size, mtimeMs } = await stat(path);
      return { path, size, mtimeMs };
    } catch (error) {
      if (isGone(error)) return undefined; // another window removed it
      throw error;
    }
  }
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
