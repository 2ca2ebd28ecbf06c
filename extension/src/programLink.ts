import { copyFile, lstat, mkdir, readlink, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";

// Does not need VS Code.

/** The program in the folder of an installed version of the extension. */
const ofAnExtension = /[\\/]assent\.assent-[^\\/]+[\\/]bin[\\/]assent(?:\.exe)?$/;

/**
 * The place where shells and other programs find Assent's program. VS Code moves the extension's folder with each
 * version, and this place stays. On Windows, where a link needs special rights, it is a copy.
 */
export class ProgramLink {
  readonly path: string;
  readonly #program: string;
  readonly #copies: boolean;

  /** `program` is the path of the program in this version of the extension. */
  constructor(
    program: string,
    home: string,
    environment: Readonly<Record<string, string | undefined>>,
    platform: string,
  ) {
    this.#program = program;
    this.#copies = platform === "win32";
    this.path = this.#copies
      ? join(
          environment["LOCALAPPDATA"] ?? join(home, "AppData", "Local"),
          ...["Programs", "assent", "assent.exe"],
        )
      : join(home, ".local", "bin", "assent");
  }

  /**
   * Reports whether the place is empty, has a link to a version of the extension, or has a file of the person, which stays.
   */
  async state(): Promise<"absent" | "ours" | "other"> {
    try {
      const stats = await lstat(this.path);
      if (this.#copies) return "ours"; // the folder is named for Assent
      if (!stats.isSymbolicLink()) return "other";
      const target = await readlink(this.path);
      return target === this.#program || ofAnExtension.test(target) ? "ours" : "other";
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "absent";
      throw error;
    }
  }

  /** Puts this version's program there, in one step. */
  async set(): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    const next = `${this.path}.${process.pid}`;
    await rm(next, { force: true });
    await (this.#copies ? copyFile(this.#program, next) : symlink(this.#program, next));
    await rename(next, this.path);
  }

  /**
   * Has a link of an earlier version lead to this version's program. Does nothing without a link, and in a development
   * window, which the person's own programs must not depend on.
   */
  async refresh(): Promise<void> {
    if (!ofAnExtension.test(this.#program)) return;
    if ((await this.state()) === "ours") await this.set();
  }
}
