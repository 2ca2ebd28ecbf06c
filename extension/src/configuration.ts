import { join } from "node:path";
import type {
  AutoApprove,
  Configuration,
  FixedAnswer,
  SamplingLimits,
  SamplingReview,
} from "@assent/protocol";
import * as vscode from "vscode";
import { apiKeyName, endpointNames, readModelSettings } from "./modelSettings.ts";
import { readPolicies } from "./policies.ts";
import { settingsReader } from "./settings.ts";

/** How much a server may ask of the person and of models. */
interface Limits extends SamplingLimits {
  readonly maxOpen?: number;
  readonly answerSeconds?: number;
}

/** Reads the person's settings and the open folders as the protocol's configuration. */
export async function readConfiguration(
  { secrets, globalStorageUri }: vscode.ExtensionContext,
  exampleServer: boolean,
): Promise<Configuration> {
  const read = settingsReader();
  const folders = vscode.workspace.workspaceFolders ?? [];
  const trust = vscode.workspace.isTrusted ? { vouched: true } : { untrusted: true };
  const { maxOpen = 32, answerSeconds = 0, ...samplingLimits } = read<Limits>("limits", {});
  const { idleMinutes = 30, toolSeconds = 0 } = read<Readonly<Record<string, number>>>(
    "server.timeouts",
    {},
  );
  const { maxRounds = 50, maxTokens = 8192 } = read<Readonly<Record<string, number>>>(
    "chat.limits",
    {},
  );
  const { mcpTaskResults = 30, journal = 90 } = read<Readonly<Record<string, number>>>(
    "retention.days",
    {},
  );
  return {
    workspaceFolders: folders
      .filter(({ uri }) => uri.scheme === "file")
      .map(({ name, uri }) => ({ name, path: uri.fsPath, ...trust })),
    servers: read("servers", {}),
    inputs: read("inputs", []),
    editorFile: join(globalStorageUri.fsPath, "..", "..", "mcp.json"), // of the default profile
    editorPolicies: readPolicies(),
    exampleServer,
    model: await readModelSettings(read, secrets),
    sampling: {
      review: read<SamplingReview>("sampling.review", "always"),
      limits: samplingLimits,
    },
    askTimeout: answerSeconds,
    elicitation: { answers: read<FixedAnswer[]>("elicitation.answers", []), maxOpen },
    idleMinutes,
    journal: { keepDays: journal },
    mcpTasks: { keepResults: mcpTaskResults },
    tools: { autoApprove: read<AutoApprove>("tools.autoApprove", "never"), timeout: toolSeconds },
    chat: { maxRounds, maxTokens, systemPrompt: read("chat.systemPrompt", "") },
  };
}

/** Calls back when the configuration may have changed. */
export function onConfigurationChange(
  secrets: vscode.SecretStorage,
  changed: () => void,
): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (["assent", "chat.mcp"].some((name) => event.affectsConfiguration(name))) changed();
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(changed),
    vscode.workspace.onDidGrantWorkspaceTrust(changed),
    secrets.onDidChange(({ key }) => {
      if (endpointNames.some((name) => key === apiKeyName(name))) changed();
    }),
  );
}
