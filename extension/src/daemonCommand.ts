import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

/** How long a daemon may take to answer before it is killed, in milliseconds. */
const answerMs = 5_000;

/** Runs the commands for the daemon, which serves all windows. Does not need VS Code. */
export class DaemonCommand {
  readonly #command: string;
  #following: ChildProcess | undefined;

  /** The command is the path of Assent's program. */
  constructor(command: string) {
    this.#command = command;
  }

  /** Ends the daemon, if there is one: by request, or else by force. Rejects if both fail. */
  async stop(): Promise<void> {
    try {
      await this.#run(["status"], answerMs); // fails if the daemon hangs, which then cannot end by request
      await this.#run(["stop"]);
    } catch {
      await this.kill();
    }
  }

  /** Ends the daemon by force, if there is one. */
  async kill(): Promise<void> {
    await this.#run(["stop", "--force"]);
  }

  async #run(args: readonly string[], timeout = 0): Promise<void> {
    const options = { windowsHide: true, timeout };
    await promisify(execFile)(this.#command, ["daemon", ...args], options);
  }

  /** Passes on the lines of the daemon's log, old and new, until it is disposed. A second call does nothing. */
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
