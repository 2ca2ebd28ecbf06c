import type {
  AutoApprove,
  Configuration,
  FixedAnswer,
  SamplingLimits,
  SamplingReview,
} from "@assent/protocol";
import type { PanelSettings } from "@assent/protocol/host";
import * as vscode from "vscode";
import { apiKeyName, endpointNames, readModelSettings } from "./modelSettings.ts";

/** Reads what the person has set, and where they work, in the protocol's words. */
export async function readConfiguration(
  secrets: vscode.SecretStorage,
  exampleServer: boolean,
): Promise<Configuration> {
  const settings = vscode.workspace.getConfiguration("assent");
  const folders = vscode.workspace.workspaceFolders ?? [];
  const distrust = vscode.workspace.isTrusted ? {} : { untrusted: true };
  return {
    workspaceFolders: folders
      .filter(({ uri }) => uri.scheme === "file")
      .map(({ name, uri }) => ({ name, path: uri.fsPath, ...distrust })),
    servers: settings.get("servers", {}),
    inputs: settings.get("inputs", []),
    exampleServer,
    model: await readModelSettings(settings, secrets),
    sampling: {
      review: settings.get<SamplingReview>("sampling.review", "always"),
      limits: settings.get<SamplingLimits>("sampling.limits", {}),
    },
    askTimeout: settings.get("asks.timeout", 0),
    elicitation: {
      answers: settings.get<FixedAnswer[]>("elicitation.answers", []),
      maxOpen: settings.get("elicitation.maxOpen", 32),
    },
    idleMinutes: settings.get("connections.idleMinutes", 30),
    journal: { keepDays: settings.get("journal.keepDays", 90) },
    mcpTasks: { keepResults: settings.get("mcpTasks.keepResults", 30) },
    tools: {
      autoApprove: settings.get<AutoApprove>("tools.autoApprove", "never"),
      timeout: settings.get("tools.timeout", 0),
    },
    chat: {
      maxRounds: settings.get("chat.maxRounds", 50),
      maxTokens: settings.get("chat.maxTokens", 8192),
      systemPrompt: settings.get("chat.systemPrompt", ""),
    },
  };
}

/** Reads what the person has set of the panel. */
export function readPanelSettings(): PanelSettings {
  const settings = vscode.workspace.getConfiguration("assent");
  return { samplingDiagram: settings.get("sampling.diagram", true) };
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
    vscode.workspace.onDidGrantWorkspaceTrust(changed),
    secrets.onDidChange(({ key }) => {
      if (endpointNames.some((name) => key === apiKeyName(name))) changed();
    }),
  );
}
