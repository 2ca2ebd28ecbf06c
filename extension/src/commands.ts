import type { Reveal } from "@assent/protocol/host";
import * as vscode from "vscode";
import type { Sidecar } from "./sidecar.ts";
import { registerCommand } from "./window.ts";

/** What the commands do, by their names after "assent.". */
export type Commands = Readonly<Record<string, (...args: unknown[]) => unknown>>;

/** Registers the commands. Each command starts the sidecar. */
export function registerCommands(commands: Commands, sidecar: Sidecar): vscode.Disposable {
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, run]) =>
      registerCommand(`assent.${name}`, (...args) => {
        sidecar.start();
        return run(...args);
      }),
    ),
  );
}

/** Reads the place that a command's arguments name. Any extension or link can run a command with any arguments. */
export function placeInTask(taskId: unknown, messageId: unknown): Reveal {
  if (typeof taskId !== "string") return { kind: "openAsks" };
  return typeof messageId === "number"
    ? { kind: "message", taskId, messageId }
    : { kind: "task", taskId };
}
