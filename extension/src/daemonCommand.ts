import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

/** The commands for the process that serves all windows. It needs no VS Code. */
export class DaemonCommand {
  readonly #command: string;
  #following: ChildProcess | undefined;

  /** The command is the path of Assent's program. */
  constructor(command: string) {
    this.#command = command;
  }

  /** Ends the daemon, if there is one: in good order, or else by force. Fails if neither succeeds. */
  async stop(): Promise<void> {
    const stop = (...how: readonly string[]) =>
      promisify(execFile)(this.#command, ["daemon", "stop", ...how], { windowsHide: true });
    try {
      await stop();
    } catch {
      await stop("--force");
    }
  }

  /** Passes on the lines of the daemon's log, those that there are and those that come, until it is disposed. Once is enough. */
  follow(take: (line: string) => void): void {
    if (this.#following !== undefined) return;
    const child = spawn(this.#command, ["daemon", "log", "--follow"], {
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    this.#following = child;
    const forget = (): void => {
      if (this.#following === child) this.#following = undefined;
    };
    child.once("error", (error) => {
      take(error.message);
      forget();
    });
    child.once("close", forget);
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", take);
  }

  dispose(): void {
    this.#following?.kill();
  }
}
