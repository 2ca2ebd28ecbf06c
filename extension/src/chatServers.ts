import * as vscode from "vscode";
import type { Backend } from "./backend.ts";
import { settingsReader } from "./settings.ts";
import type { Sidecar } from "./sidecar.ts";

/** As in package.json. */
const providerId = "assent.servers";

/**
 * Offers the servers of the setting `assent.servers` to VS Code's own chat, one definition each, through the gateway.
 * Their questions are answered in Assent. Servers of mcp.json are not offered, because VS Code has them itself.
 */
export function offerServersToChat(backend: Backend): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  return vscode.Disposable.from(
    changed,
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("assent.servers")) changed.fire();
    }),
    vscode.lm.registerMcpServerDefinitionProvider(providerId, {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions: () => definitions(backend),
      // The gateway uses the servers of this window's workspace, so the window has to be attached to it first.
      async resolveMcpServerDefinition(definition) {
        await running(backend.sidecar);
        return definition;
      },
    }),
  );
}

/** Empty if the window's sidecar is a process of its own, which the gateway cannot reach. */
function definitions({ program, dataFolder }: Backend): vscode.McpStdioServerDefinition[] {
  const read = settingsReader();
  if (read("standalone", false)) return [];
  return Object.keys(read<Readonly<Record<string, unknown>>>("servers", {})).map((name) => {
    const definition = new vscode.McpStdioServerDefinition(
      name,
      program,
      ["gateway", "--own", "--host", "vscode", "--data-dir", dataFolder, "--", name],
      // This variable would make Electron act as Node.js.
      { ELECTRON_RUN_AS_NODE: null },
      // VS Code caches the tools of a version, and stops a server if the version changes during its calls.
      "1",
    );
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    if (folder?.uri.scheme === "file") definition.cwd = folder.uri;
    return definition;
  });
}

/** Starts the sidecar, and resolves when it runs. */
async function running(sidecar: Sidecar): Promise<void> {
  sidecar.start();
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      const { status } = sidecar;
      if (status.state === "running") resolve();
      else if (status.state === "failed") reject(new Error(status.reason));
      else return;
      stop();
    };
    const stop = sidecar.onStatus(look);
    look();
  });
}
