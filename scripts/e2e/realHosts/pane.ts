import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "../eventually.ts";
import type { Stage } from "../stage.ts";

const tmux = "/usr/bin/tmux";

/** A terminal with a program in it. tmux draws it, so that a test sees what a person would see. */
export class Pane {
  readonly #tmux: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(tmux: readonly string[], environment: Readonly<Record<string, string>>) {
    this.#tmux = tmux;
    this.#environment = environment;
  }

  /** Opens a terminal in a folder, where the program sees only this environment. */
  static async open(
    stage: Stage,
    name: string,
    folder: string,
    environment: Readonly<Record<string, string>>,
    command: readonly string[],
  ): Promise<Pane> {
    if (!existsSync(tmux)) throw new Error(`${tmux} is missing, which draws the terminal`);
    const pane = new Pane(["-S", join(stage.folder, name), "-f", "/dev/null"], environment);
    const size = ["-x", "140", "-y", "60"];
    const line = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    await pane.#run("new-session", "-d", ...size, "-c", folder, line);
    return pane;
  }

  /** What stands on it now; nothing after its program has ended. */
  async screen(): Promise<string> {
    return await this.#run("capture-pane", "-p").catch(() => "");
  }

  /** Waits for a text. */
  async shows(text: string | RegExp): Promise<void> {
    let screen = "";
    try {
      await eventually(`${text} in the terminal`, async () => {
        screen = await this.screen();
        return (typeof text === "string" ? screen.includes(text) : text.test(screen)) || undefined;
      });
    } catch (error) {
      throw new Error(`${(error as Error).message}:\n${screen.replaceAll(/\n\n+/g, "\n")}`);
    }
  }

  /** Presses a key, such as "1" or "Escape". */
  async press(key: string): Promise<void> {
    await this.#run("send-keys", key);
  }

  /** Closes the terminal as a person does: its program is told that it is gone. */
  async close(): Promise<void> {
    await this.#run("kill-server").catch(() => undefined);
  }

  async #run(...args: readonly string[]): Promise<string> {
    const options = { env: this.#environment, timeout: 60_000 };
    return (await promisify(execFile)(tmux, [...this.#tmux, ...args], options)).stdout;
  }
}
