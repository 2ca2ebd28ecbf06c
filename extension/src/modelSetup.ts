import * as vscode from "vscode";
import {
  apiKeyName,
  type Endpoint,
  type Endpoints,
  endpointNames,
  endpoints,
} from "./modelSettings.ts";
import { idOf } from "./models.ts";
import { settingsReader } from "./settings.ts";
import { showInputBox, showQuickPick } from "./window.ts";

/** The endpoints on the person's own machine, which need no key. */
const local = ["ollama", "lmstudio", "vllm"] as const satisfies readonly Endpoint[];

interface Choice extends vscode.QuickPickItem {
  readonly choose?: () => Promise<void>;
}

/** Lets the person choose a model of VS Code or an endpoint, or open the settings. */
export async function chooseModel(secrets: vscode.SecretStorage): Promise<void> {
  const models = await vscode.lm.selectChatModels();
  const items: readonly Choice[] = [
    heading(vscode.l10n.t("VS Code")),
    ...models.map((model) => ({
      label: model.name,
      description: model.vendor,
      choose: async () => {
        await setEndpoint("vscode", { model: idOf(model) });
        await set("model.provider", "vscode");
      },
    })),
    heading(vscode.l10n.t("On this machine")),
    ...local.map((name) => ({
      label: endpoints[name],
      choose: async () => {
        await use(name);
        await set("model.provider", name);
      },
    })),
    heading(vscode.l10n.t("More")),
    {
      label: vscode.l10n.t("Set an API Key…"),
      description: "OpenAI, Anthropic, Gemini, OpenRouter",
      choose: () => setModelApiKey(secrets),
    },
    {
      label: vscode.l10n.t("Open Model Settings"),
      choose: async () => {
        await vscode.commands.executeCommand(
          "workbench.action.openSettings",
          "@ext:assent.assent assent.model",
        );
      },
    },
  ];
  // VS Code has no models until its own chat is set up or a provider of models is installed.
  const shown = models.length === 0 ? items.slice(1) : items;
  const chosen = await showQuickPick(shown, {
    title: vscode.l10n.t("Choose a Model"),
    placeHolder: vscode.l10n.t("Which model should answer?"),
    matchOnDescription: true,
  });
  await chosen?.choose?.();
}

/** Asks for the key of an endpoint. An empty text removes the key. */
export async function setModelApiKey(secrets: vscode.SecretStorage): Promise<void> {
  const items = endpointNames.map((name) => ({ name, label: endpoints[name] }));
  const chosen = await showQuickPick(items, {
    title: vscode.l10n.t("Set an API Key"),
    placeHolder: vscode.l10n.t("Which provider is the key for?"),
  });
  if (chosen === undefined) return;
  const { name, label } = chosen;
  const baseUrl = name === "openai" ? await openaiBaseUrl(label) : "";
  if (baseUrl === undefined) return;
  const key = await showInputBox({
    title: vscode.l10n.t("API Key: {0}", label),
    prompt: vscode.l10n.t(
      "The key is kept in VS Code's secret storage. To remove it, leave this empty.",
    ),
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return;
  if (key === "") {
    await secrets.delete(apiKeyName(name));
    return;
  }
  await secrets.store(apiKeyName(name), key);
  if (name !== "openai") await use(name);
  else if (baseUrl !== openaiBaseUrlSetting()) await setEndpoint(name, { baseUrl });
}

/** Returns the URL that the key is for: from the settings, or typed by the person. */
async function openaiBaseUrl(label: string): Promise<string | undefined> {
  const known = openaiBaseUrlSetting();
  if (known !== "") return known;
  return await showInputBox({
    title: vscode.l10n.t("Base URL: {0}", label),
    prompt: vscode.l10n.t("The key is sent to this URL and to no other."),
    value: "https://api.openai.com/v1",
    ignoreFocusOut: true,
  });
}

function openaiBaseUrlSetting(): string {
  return settingsReader()<Endpoints>("model.endpoints", {}).openai?.baseUrl ?? "";
}

/** Adds an endpoint to the settings, unless it is there already. */
async function use(name: Endpoint): Promise<void> {
  if (!Object.hasOwn(ownEndpoints(), name)) await setEndpoint(name, {});
}

/** Sets members of an endpoint in the settings. */
async function setEndpoint(name: keyof Endpoints, members: object): Promise<void> {
  const own = ownEndpoints();
  await set("model.endpoints", { ...own, [name]: { ...own[name], ...members } });
}

function ownEndpoints(): Endpoints {
  return settings().inspect<Endpoints>("model.endpoints")?.globalValue ?? {};
}

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("assent");
}

async function set(name: string, value: unknown): Promise<void> {
  await settings().update(name, value, vscode.ConfigurationTarget.Global);
}

function heading(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
