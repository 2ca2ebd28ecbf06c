import type { ModelFacts, ModelProvider, ModelSettings, Secret } from "@assent/protocol";
import type * as vscode from "vscode";
import type { ReadSetting } from "./settings.ts";

/** The endpoints with a key in VS Code's secret storage, and their names. */
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

/** Returns the secret storage's key for an endpoint. */
export function apiKeyName(endpoint: Endpoint): string {
  return `model.${endpoint}.apiKey`;
}

/** Reads the settings of models, with the keys of the endpoints. */
export async function readModelSettings(
  read: ReadSetting,
  secrets: Pick<vscode.SecretStorage, "get">,
): Promise<ModelSettings> {
  const keyOf = async (name: Endpoint): Promise<{ readonly apiKey?: Secret }> => {
    const secret = await secrets.get(apiKeyName(name));
    return secret === undefined ? {} : { apiKey: { secret } };
  };
  const provider = read<ModelProvider | "">("model.provider", "");
  const set = read<Endpoints>("model.endpoints", {});
  const allowed = read<Readonly<Record<string, readonly string[]>>>("model.allowed", {});
  const used = endpointNames.filter((name) =>
    // This endpoint has no default URL.
    name === "openai" ? set.openai?.baseUrl : set[name] !== undefined,
  );
  const { facts = [] } = set["*"] ?? {};
  const vscodeModel = set.vscode?.model ?? "";
  return {
    ...(provider === "" ? {} : { provider }),
    ...(vscodeModel === "" ? {} : { vscodeModel }),
    endpoints: await Promise.all(
      used.map(async (name) => {
        // Only known members are copied, so that a key in the settings goes no further.
        const { baseUrl = "", models = [] } = set[name] ?? {};
        const names = [models].flat().filter((model) => model !== "");
        return { provider: name, baseUrl, models: names, ...(await keyOf(name)) };
      }),
    ),
    table: Object.entries(facts).map(([match, it]) => ({ ...it, match })),
    allowed: Object.entries(allowed).map(([serverName, models]) => ({ serverName, models })),
  };
}

/** The setting. A model may stand for a list of one. */
export type Endpoints = Readonly<
  Partial<
    Record<Endpoint, { readonly baseUrl?: string; readonly models?: string | readonly string[] }>
  >
> & {
  readonly vscode?: { readonly model?: string };
  readonly "*"?: { readonly facts?: Readonly<Record<string, ModelFacts>> };
};
