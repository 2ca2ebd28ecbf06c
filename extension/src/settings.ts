import * as vscode from "vscode";
import type { Log } from "./log.ts";
import { showInformationMessage } from "./window.ts";

/** Reads a setting by its name after "assent.": its value, or the default that is passed. */
export type ReadSetting = <T>(name: string, otherwise: T) => T;

/** The settings that a trusted workspace may set too. */
const ofWorkspaces = new Set(["server.timeouts", "chat.systemPrompt", "chat.limits", "log.level"]);

/**
 * The names of settings in version 0.1, with their new setting and member. This version still reads them. The one
 * without a new name was removed.
 */
const moved: readonly (readonly [old: string, now?: string, ...path: string[]])[] = [
  ["connections.idleMinutes", "server.timeouts", "idleMinutes"],
  ["tools.timeout", "server.timeouts", "toolSeconds"],
  ["model.openai.baseUrl", "model.endpoints", "openai", "baseUrl"],
  ["model.openai.model", "model.endpoints", "openai", "models"],
  ["model.vscode.model", "model.endpoints", "vscode", "model"],
  ["model.table", "model.endpoints", "*", "facts"],
  ["sampling.limits", "limits"],
  ["elicitation.maxOpen", "limits", "maxOpen"],
  ["asks.timeout", "limits", "answerSeconds"],
  ["chat.maxRounds", "chat.limits", "maxRounds"],
  ["chat.maxTokens", "chat.limits", "maxTokens"],
  ["mcpTasks.keepResults", "retention.days", "mcpTaskResults"],
  ["journal.keepDays", "retention.days", "journal"],
  ["sampling.diagram"],
];

/** The state with the old names that the person was notified of, so that the notification comes once. */
const toldKey = "settings.told";

/**
 * Returns a function that reads the current settings. VS Code merges a workspace's "assent.servers.NAME" into
 * "assent.servers", which a workspace may not set. So settings of the person are read from their own files only.
 */
export function settingsReader(): ReadSetting {
  const settings = vscode.workspace.getConfiguration("assent");
  return <T>(name: string, otherwise: T): T => {
    const find = (key: string): unknown =>
      ofWorkspaces.has(name) && vscode.workspace.isTrusted
        ? settings.get(key)
        : settings.inspect(key)?.globalValue;
    let value = find(name);
    for (const [old, now, ...path] of moved) {
      if (now === name) value = addUnder(value, path, find(old));
    }
    return (value ?? otherwise) as T;
  };
}

/** Reports old names in the settings, in the log and in one notification. */
export async function reportOldSettings(log: Log, state: vscode.Memento): Promise<void> {
  const settings = vscode.workspace.getConfiguration("assent");
  const lines = moved
    .filter(([old]) => {
      const { globalValue, workspaceValue, workspaceFolderValue } = settings.inspect(old) ?? {};
      return (globalValue ?? workspaceValue ?? workspaceFolderValue) !== undefined;
    })
    .map(([old, ...now]) =>
      now.length === 0
        ? vscode.l10n.t("{0} has gone", `assent.${old}`)
        : vscode.l10n.t("{0} is now {1}", `assent.${old}`, `assent.${now.join(".")}`),
    );
  const list = lines.join("; ");
  if (lines.length === 0 || state.get(toldKey) === list) return;
  await state.update(toldKey, list);
  log.warn(`Settings have old names, which the next version does not read: ${list}`);
  const open = vscode.l10n.t("Open Settings");
  const choice = await showInformationMessage(
    vscode.l10n.t(
      "Settings of Assent have new names. The old names still work in this version: {0}.",
      list,
    ),
    {},
    open,
  );
  if (choice === open) await vscode.commands.executeCommand("workbench.action.openSettingsJson");
}

/** Returns a setting's value with an earlier value in the member at a path, unless that member is set. */
function addUnder(value: unknown, path: readonly string[], earlier: unknown): unknown {
  if (earlier === undefined) return value;
  const [member, ...rest] = path;
  if (member !== undefined) {
    const members = isObject(value) ? value : {};
    return { ...members, [member]: addUnder(members[member], rest, earlier) };
  }
  return isObject(value) && isObject(earlier) ? { ...earlier, ...value } : (value ?? earlier);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
