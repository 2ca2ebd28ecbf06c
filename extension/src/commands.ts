import type { Reveal } from "@assent/protocol/host";
import * as vscode from "vscode";
import type { Log } from "./log.ts";
import type { Sidecar } from "./sidecar.ts";
import { registerCommand } from "./window.ts";

/** What the commands do, by their names after "assent.". */
export type Commands = Readonly<Record<string, (...args: unknown[]) => unknown>>;

/** Earlier names of commands, kept in this version for people's keybindings. */
const oldCommands = [
  ["exportJournal", "showJournal"],
  ["forgetInputs", "forgetSecrets"],
  ["signOut", "forgetSecrets"],
  ["setModelApiKey", "chooseModel"],
  ["importServers", "getStarted", "importServers"],
  ["tryExampleServer", "getStarted", "exampleServer"],
  ["openWalkthrough", "getStarted", "walkthrough"],
  ["openGuide", "getStarted", "guide"],
  ["restoreTask", "panel.focus"],
  ["showGrants", "showAutomaticAnswers"],
  ["previousAsk", "nextAsk", "previous"],
] as const;

/** Registers the commands, and the earlier names of some. Each command starts the sidecar. */
export function registerCommands(
  commands: Commands,
  sidecar: Sidecar,
  log: Log,
): vscode.Disposable {
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, run]) =>
      registerCommand(`assent.${name}`, (...args) => {
        sidecar.start();
        return run(...args);
      }),
    ),
    ...oldCommands.map(([old, now, ...args]) =>
      registerCommand(`assent.${old}`, () => {
        log.warn(`The command assent.${old} is assent.${now} in the next version.`);
        return vscode.commands.executeCommand(`assent.${now}`, ...args);
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
