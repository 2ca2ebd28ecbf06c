import * as vscode from "vscode";

/** Reads a setting by its name after "assent.": its value, or the default that is passed. */
export type ReadSetting = <T>(name: string, otherwise: T) => T;

/** The settings that a trusted workspace may set too. */
const ofWorkspaces = new Set(["server.timeouts", "chat.systemPrompt", "chat.limits", "log.level"]);

/**
 * Returns a function that reads the current settings. VS Code merges a workspace's "assent.servers.NAME" into
 * "assent.servers", which a workspace may not set. So settings of the person are read from their own files only.
 */
export function settingsReader(): ReadSetting {
  const settings = vscode.workspace.getConfiguration("assent");
  return <T>(name: string, otherwise: T): T => {
    const value =
      ofWorkspaces.has(name) && vscode.workspace.isTrusted
        ? settings.get(name)
        : settings.inspect(name)?.globalValue;
    return (value ?? otherwise) as T;
  };
}
