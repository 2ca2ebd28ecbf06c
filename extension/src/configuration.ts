import type { Configuration, ModelProvider, ModelSettings } from "@assent/protocol";
import * as vscode from "vscode";

const apiKeyName = "model.openai.apiKey";

/** Reads what the person has set, and where they work, in the protocol's words. */
export async function readConfiguration(secrets: vscode.SecretStorage): Promise<Configuration> {
  const settings = vscode.workspace.getConfiguration("assent");
  const folders = vscode.workspace.workspaceFolders ?? [];
  return {
    workspaceFolders: folders
      .filter(({ uri }) => uri.scheme === "file")
      .map(({ name, uri }) => ({ name, path: uri.fsPath })),
    servers: settings.get("servers", {}),
    inputs: settings.get("inputs", []),
    model: modelSettings(settings, await secrets.get(apiKeyName)),
  };
}

function modelSettings(
  settings: vscode.WorkspaceConfiguration,
  apiKey: string | undefined,
): ModelSettings {
  const provider = settings.get<ModelProvider | "">("model.provider", "");
  const baseUrl = settings.get("model.openai.baseUrl", "");
  const model = settings.get("model.openai.model", "");
  const vscodeModel = settings.get("model.vscode.model", "");
  const key = apiKey === undefined ? {} : { apiKey: { secret: apiKey } };
  return {
    ...(provider === "" ? {} : { provider }),
    ...(baseUrl === "" ? {} : { openai: { baseUrl, model, ...key } }),
    ...(vscodeModel === "" ? {} : { vscodeModel }),
  };
}

/** Calls back whenever reading the configuration again may give something else. */
export function onConfigurationChange(
  secrets: vscode.SecretStorage,
  changed: () => void,
): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("assent")) changed();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(changed),
    secrets.onDidChange(({ key }) => {
      if (key === apiKeyName) changed();
    }),
  );
}

/** Asks for the key of the OpenAI-compatible endpoint; an empty one takes it away. */
export async function setModelApiKey(secrets: vscode.SecretStorage): Promise<void> {
  const key = await vscode.window.showInputBox({
    title: "API Key of the OpenAI-Compatible Endpoint",
    prompt: "It is kept in VS Code's secret storage. Leave it empty to remove the key.",
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return;
  if (key === "") await secrets.delete(apiKeyName);
  else await secrets.store(apiKeyName, key);
}
