import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

/** For how long a daemon may take to answer before it is ended by force, in milliseconds. */
const answerMs = 5_000;

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
    try {
      await this.#run(["status"], answerMs); // one that hangs cannot leave
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
