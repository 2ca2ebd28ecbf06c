import * as vscode from "vscode";

/**
 * Reads what an organisation says about MCP servers, wherever VS Code has it from: settings of a policy have the policy's
 * value. Returns nothing if that restricts nothing.
 */
export function readPolicies(): object | undefined {
  const settings = vscode.workspace.getConfiguration("chat.mcp");
  const access = settings.get<string>("access");
  const policies = {
    ChatMCP: access === "all" ? undefined : access,
    // Without a list, it is null.
    ChatAllowedMcpServers: settings.get<unknown>("allowedServers") ?? undefined,
    ChatDeniedMcpServers: settings.get<unknown>("deniedServers") ?? undefined,
  };
  return Object.values(policies).every((policy) => policy === undefined) ? undefined : policies;
}
