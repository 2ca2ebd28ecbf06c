import * as vscode from "vscode";

/**
 * Reads what an organisation says about MCP servers, wherever VS Code has it from: settings of a policy have the policy's
 * value.
 */
export function readPolicies(): object {
  const settings = vscode.workspace.getConfiguration("chat.mcp");
  return {
    ChatMCP: settings.get<string>("access") ?? "all",
    // Without a list, it is null.
    ChatAllowedMcpServers: settings.get<unknown>("allowedServers") ?? undefined,
    ChatDeniedMcpServers: settings.get<unknown>("deniedServers") ?? undefined,
  };
}
