import type {
  EndpointSettings,
  ModelProvider,
  ModelRow,
  ModelSettings,
  Secret,
} from "@assent/protocol";
import type * as vscode from "vscode";

/** The endpoints that have a key of their own in VS Code's secret storage, and their names. */
export const endpoints = {
  openai: "OpenAI-compatible endpoint",
  anthropic: "Anthropic",
  gemini: "Gemini",
  openrouter: "OpenRouter",
  ollama: "Ollama",
  lmstudio: "LM Studio",
  vllm: "vLLM",
} satisfies Partial<Record<ModelProvider, string>>;

export type Endpoint = keyof typeof endpoints;

export const endpointNames = Object.keys(endpoints) as readonly Endpoint[];

/** Where an endpoint's key is kept. */
export function apiKeyName(endpoint: Endpoint): string {
  return `model.${endpoint}.apiKey`;
}

/** What the person has set under Assent: Model, with the keys that they gave. */
export async function readModelSettings(
  settings: Pick<vscode.WorkspaceConfiguration, "get">,
  secrets: Pick<vscode.SecretStorage, "get">,
): Promise<ModelSettings> {
  const keyOf = async (name: Endpoint): Promise<{ readonly apiKey?: Secret }> => {
    const secret = await secrets.get(apiKeyName(name));
    return secret === undefined ? {} : { apiKey: { secret } };
  };
  const provider = settings.get<ModelProvider | "">("model.provider", "");
  const baseUrl = settings.get("model.openai.baseUrl", "");
  const model = settings.get("model.openai.model", "");
  const vscodeModel = settings.get("model.vscode.model", "");
  const others = settings.get<Endpoints>("model.endpoints", {});
  const table = settings.get<readonly ModelRow[]>("model.table", []);
  const allowed = settings.get<Readonly<Record<string, readonly string[]>>>("model.allowed", {});
  const used = endpointNames.filter((name) => name !== "openai" && others[name] !== undefined);
  return {
    ...(provider === "" ? {} : { provider }),
    ...(baseUrl === "" ? {} : { openai: { baseUrl, model, ...(await keyOf("openai")) } }),
    ...(vscodeModel === "" ? {} : { vscodeModel }),
    endpoints: await Promise.all(
      used.map(async (name) => {
        // Only what is known: a key that somebody wrote into the settings does not get further.
        const { baseUrl = "", models = [] } = others[name] ?? {};
        return { provider: name, baseUrl, models, ...(await keyOf(name)) };
      }),
    ),
    table,
    allowed: Object.entries(allowed).map(([serverName, models]) => ({ serverName, models })),
  };
}

type Endpoints = Readonly<Partial<Record<Endpoint, Pick<EndpointSettings, "baseUrl" | "models">>>>;
