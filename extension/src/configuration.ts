import type {
  Configuration,
  EndpointSettings,
  ModelProvider,
  ModelRow,
  ModelSettings,
  Secret,
} from "@assent/protocol";
import * as vscode from "vscode";

/** The endpoints that have a key of their own in VS Code's secret storage, and their names. */
const endpoints = {
  openai: "OpenAI-compatible endpoint",
  anthropic: "Anthropic",
  gemini: "Gemini",
  openrouter: "OpenRouter",
  ollama: "Ollama",
  lmstudio: "LM Studio",
  vllm: "vLLM",
} satisfies Partial<Record<ModelProvider, string>>;

type Endpoint = keyof typeof endpoints;

const names = Object.keys(endpoints) as Endpoint[];

function apiKeyName(endpoint: Endpoint): string {
  return `model.${endpoint}.apiKey`;
}

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
    model: modelSettings(settings, await readKeys(secrets)),
  };
}

type Keys = ReadonlyMap<Endpoint, string>;

async function readKeys(secrets: vscode.SecretStorage): Promise<Keys> {
  const keys = new Map<Endpoint, string>();
  for (const name of names) {
    const key = await secrets.get(apiKeyName(name));
    if (key !== undefined) keys.set(name, key);
  }
  return keys;
}

function modelSettings(settings: vscode.WorkspaceConfiguration, keys: Keys): ModelSettings {
  const provider = settings.get<ModelProvider | "">("model.provider", "");
  const baseUrl = settings.get("model.openai.baseUrl", "");
  const model = settings.get("model.openai.model", "");
  const vscodeModel = settings.get("model.vscode.model", "");
  const others = settings.get<Readonly<Record<string, EndpointSetting>>>("model.endpoints", {});
  const allowed = settings.get<Readonly<Record<string, readonly string[]>>>("model.allowed", {});
  return {
    ...(provider === "" ? {} : { provider }),
    ...(baseUrl === "" ? {} : { openai: { baseUrl, model, ...keyOf("openai", keys) } }),
    ...(vscodeModel === "" ? {} : { vscodeModel }),
    endpoints: names
      .filter((name) => name !== "openai" && others[name] !== undefined)
      .map((name) => ({ provider: name, ...others[name], ...keyOf(name, keys) })),
    table: settings.get<readonly ModelRow[]>("model.table", []),
    allowed: Object.entries(allowed).map(([serverName, models]) => ({ serverName, models })),
  };
}

type EndpointSetting = Pick<EndpointSettings, "baseUrl" | "models">;

function keyOf(name: Endpoint, keys: Keys): { readonly apiKey?: Secret } {
  const secret = keys.get(name);
  return secret === undefined ? {} : { apiKey: { secret } };
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
      if (names.some((name) => key === apiKeyName(name))) changed();
    }),
  );
}

/** Asks for the key of an endpoint; an empty one takes it away. */
export async function setModelApiKey(secrets: vscode.SecretStorage): Promise<void> {
  const items = names.map((name) => ({ name, label: endpoints[name] }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: "Set Model API Key",
    placeHolder: "Whose key is it?",
  });
  if (chosen === undefined) return;
  const key = await vscode.window.showInputBox({
    title: `API Key: ${chosen.label}`,
    prompt: "It is kept in VS Code's secret storage. Leave it empty to remove the key.",
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return;
  if (key === "") await secrets.delete(apiKeyName(chosen.name));
  else await secrets.store(apiKeyName(chosen.name), key);
}
