import { join } from "node:path";
import { type Configuration, type FrontEndRequests, protocolVersion } from "@assent/protocol";
import * as vscode from "vscode";
import { DaemonCommand } from "./daemonCommand.ts";
import { askToEnd, askToUpdate } from "./daemonQuestions.ts";
import { dataFolderOf, serveArgs } from "./dataFolder.ts";
import type { Handlers } from "./handlers.ts";
import { logLine } from "./log.ts";
import { settingsReader } from "./settings.ts";
import { Sidecar } from "./sidecar.ts";

/** The requests that the sidecar may send to VS Code's window. */
const capabilities = {
  elicitation: true,
  sampling: true,
  languageModels: true,
  inputs: true,
  confirmServers: true,
  openUrl: true,
  apps: true,
  appForms: true,
  secrets: true,
  attention: true,
} as const;

/**
 * The window's sidecar, and the daemon behind it that serves all windows. The sidecar's process starts when it is first
 * needed, and ends with the backend.
 */
export class Backend {
  readonly sidecar: Sidecar;
  /** The path of Assent's program. */
  readonly program: string;
  /**
   * The data folder of the workspace. It stays the same when a folder is added, so that a restarted sidecar has the
   * same conversations.
   */
  readonly dataFolder: string;
  readonly #daemon: DaemonCommand;
  readonly #log: vscode.LogOutputChannel;

  /** `configuration` is read at every start of the process. */
  constructor(
    context: vscode.ExtensionContext,
    log: vscode.LogOutputChannel,
    handlers: Handlers<FrontEndRequests>,
    configuration: () => Promise<Configuration>,
  ) {
    const storage = context.globalStorageUri.fsPath;
    const { version } = context.extension.packageJSON as { readonly version: string };
    this.#log = log;
    this.program = process.env["ASSENT_SIDECAR"] ?? binary(context);
    this.dataFolder = dataFolder(storage);
    this.#daemon = new DaemonCommand(this.program);
    this.sidecar = new Sidecar({
      command: this.program,
      args: (update) => {
        const level = settingsReader()("log.level", "info");
        const args = serveArgs(storage, this.dataFolder, level, isStandalone());
        return update ? [...args, "--update"] : args;
      },
      initializeParams: async () => ({
        protocolVersion,
        clientInfo: { name: "VS Code", version },
        capabilities,
        configuration: await configuration(),
      }),
      log: (line) => logLine(log, line),
      update: (why, pid, over) => askToUpdate(context.globalState, why, pid, over),
      hangs: async (pid, over) => {
        if (await askToEnd(pid, over)) await this.#restart(() => this.#daemon.kill());
      },
      handlers,
    });
  }

  readonly restart = (): Promise<null> => this.#restart(() => this.#daemon.stop());

  readonly showLog = (): null => {
    if (!isStandalone()) this.#daemon.follow((line) => logLine(this.#log, line, true));
    this.#log.show();
    return null;
  };

  /** Resolves when the process has ended. */
  async dispose(): Promise<void> {
    this.#daemon.dispose();
    await this.sidecar.stop();
  }

  /** The sidecar of this window relays to the daemon, so the daemon ends first. */
  async #restart(endDaemon: () => Promise<void>): Promise<null> {
    try {
      await endDaemon();
    } catch (error) {
      this.#log.error(`The daemon could not be ended: ${error}`);
    }
    this.sidecar.restart();
    return null;
  }
}

function binary(context: vscode.ExtensionContext): string {
  const name = process.platform === "win32" ? "assent.exe" : "assent";
  return context.asAbsolutePath(join("bin", name));
}

/** The state where tasks are kept: the workspace's, or the person's if there is no workspace. */
function dataFolder(storage: string): string {
  const { workspaceFile, workspaceFolders = [] } = vscode.workspace;
  // An unsaved workspace has a different file each time it is opened.
  const saved = workspaceFile?.scheme === "untitled" ? undefined : workspaceFile?.toString();
  const folders = workspaceFolders.map(({ uri }) => uri.toString());
  return dataFolderOf(storage, { workspaceFile: saved, folders });
}

function isStandalone(): boolean {
  return settingsReader()("standalone", false);
}
