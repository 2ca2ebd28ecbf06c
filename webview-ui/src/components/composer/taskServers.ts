import type { TaskServer, TaskSettings } from "@assent/protocol";
import * as l10n from "@vscode/l10n";

/** How much of a server a task's conversation may use: all tools, some of them, or none. */
export function enabledOf(settings: TaskSettings, serverName: string): TaskServer | undefined {
  if (settings.servers === undefined) return { serverName };
  return settings.servers.find((server) => server.serverName === serverName);
}

/** Adds a server to a conversation, or removes it. If all servers are chosen, the choice is left out. */
export function withServer(
  settings: TaskSettings,
  all: readonly string[],
  serverName: string,
  use: TaskServer | undefined,
): TaskSettings {
  const { servers: _before, ...others } = settings;
  const servers = all.flatMap((name) => {
    const now = name === serverName ? use : enabledOf(settings, name);
    return now === undefined ? [] : [now];
  });
  const isAll =
    servers.length === all.length && servers.every(({ toolNames }) => toolNames === undefined);
  return isAll ? others : { ...others, servers };
}

/** Adds a tool to a conversation, or removes it. If all tools are chosen, the choice is left out. */
export function withTool(
  settings: TaskSettings,
  all: readonly string[],
  serverName: string,
  tools: readonly string[],
  toolName: string,
  use: boolean,
): TaskSettings {
  const enabled = enabledOf(settings, serverName);
  const before = enabled === undefined ? [] : (enabled.toolNames ?? tools);
  const toolNames = tools.filter((name) => (name === toolName ? use : before.includes(name)));
  const next = toolNames.length === tools.length ? { serverName } : { serverName, toolNames };
  return withServer(settings, all, serverName, next);
}

/** Describes the choice in a few words. */
export function serversWords(settings: TaskSettings, all: readonly string[]): string {
  if (settings.servers === undefined) return l10n.t("All servers");
  const names = all.filter((name) => enabledOf(settings, name) !== undefined);
  const [only] = names;
  if (only === undefined) return l10n.t("No server");
  return names.length === 1 ? only : l10n.t("{0} of {1} servers", names.length, all.length);
}
