import { join } from "node:path";
import { type EditorRequests, type InitializeParams, protocolVersion } from "@assent/protocol";
import type { Reveal } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import * as vscode from "vscode";
import { askAbout } from "./askAbout.ts";
import { Attention } from "./attention.ts";
import { registerChatParticipant, showInTaskCommand } from "./chatParticipant.ts";
import { onConfigurationChange, readConfiguration, readPanelSettings } from "./configuration.ts";
import { ConfirmServer } from "./confirmServer.ts";
import { Contexts } from "./contexts.ts";
import { DaemonCommand } from "./daemonCommand.ts";
import { askToEnd, askToUpdate } from "./daemonQuestions.ts";
import { dataFolderOf, moveData, serveArgs } from "./dataFolder.ts";
import { ExampleServer } from "./exampleServer.ts";
import type { Handlers } from "./handlers.ts";
import { Importer } from "./importServers.ts";
import { Inputs } from "./inputs.ts";
import { Journal } from "./journal.ts";
import { KeptFiles } from "./keptFiles.ts";
import { KeptView } from "./keptView.ts";
import { Links } from "./links.ts";
import { logLine } from "./log.ts";
import { chooseModel, setModelApiKey } from "./modelSetup.ts";
import { listLanguageModels, sendLanguageModelRequest } from "./models.ts";
import { OpenAsks } from "./openAsks.ts";
import { openConfiguration } from "./openSource.ts";
import { openText } from "./openText.ts";
import { openUrl } from "./openUrl.ts";
import { OpenWork } from "./openWork.ts";
import { pickFiles } from "./pickFiles.ts";
import { Preview } from "./preview.ts";
import { Relay } from "./relay.ts";
import { Secrets } from "./secrets.ts";
import { Sidecar } from "./sidecar.ts";
import { Status } from "./status.ts";
import { Panel } from "./view.ts";
import { registerCommand, showWarningMessage } from "./window.ts";
import { readWorkspaceFile } from "./workspaceFile.ts";

/** VS Code waits for `deactivate` and for nothing else, so this one outlives `activate`. */
let running: Sidecar | undefined;

export function activate(context: vscode.ExtensionContext): void {
  if (vscode.l10n.bundle !== undefined) l10n.config({ contents: vscode.l10n.bundle });
  const log = vscode.window.createOutputChannel("Assent", { log: true });
  const inputs = new Inputs(context.secrets);
  const secrets = new Secrets(context.secrets);
  const confirmServer = new ConfirmServer();
  // As it is now: a folder that is added must not take the conversations away from a sidecar that starts again.
  const data = dataFolder(context);
  const { storageUri } = context;
  try {
    if (storageUri !== undefined) moveData(storageUri.fsPath, data);
  } catch (error) {
    log.error(`The conversations in ${storageUri?.fsPath} could not be moved to ${data}: ${error}`);
  }
  const handlers: Handlers<EditorRequests> = {
    "input/prompt": (params, token) => inputs.prompt(params, token),
    "server/confirm": (params, token) => confirmServer.ask(params, token),
    "window/openUrl": openUrl,
    "secret/get": (params) => secrets.get(params),
    "secret/set": (params) => secrets.set(params),
    "languageModel/list": listLanguageModels,
    "languageModel/send": (request, token) => {
      const { requestId } = request;
      const piece = (text: string): void =>
        sidecar.notify("languageModel/progress", { requestId, text });
      return sendLanguageModelRequest(request, piece, token);
    },
  };
  const program = process.env["ASSENT_SIDECAR"] ?? binary(context);
  const daemon = new DaemonCommand(program);
  const sidecar = new Sidecar({
    command: program,
    args: (update) => {
      const args = serveArgs(context.globalStorageUri.fsPath, data, logLevel(), isStandalone());
      return update ? [...args, "--update"] : args;
    },
    initializeParams: () => introduction(context, exampleServer.added),
    log: (line) => logLine(log, line),
    update: (why, pid, over) => askToUpdate(context.globalState, why, pid, over),
    hangs: async (pid, over) => {
      if (await askToEnd(pid, over)) await end(() => daemon.kill());
    },
    handlers,
  });
  running = sidecar;
  const tellConfiguration = async (): Promise<void> => {
    relay.tell("host/settings", readPanelSettings());
    const configuration = await readConfiguration(context.secrets, exampleServer.added);
    sidecar.notify("workspace/didChangeConfiguration", configuration);
  };
  const exampleServer = new ExampleServer(context.workspaceState, tellConfiguration);

  // The sidecar of this window is a relay: what is to end is behind it.
  const end = async (endDaemon: () => Promise<void>): Promise<null> => {
    try {
      await endDaemon();
    } catch (error) {
      log.error(`The daemon could not be ended: ${error}`);
    }
    sidecar.restart();
    return null;
  };
  const restart = () => end(() => daemon.stop());
  const showLog = (): null => {
    if (!isStandalone()) daemon.follow((line) => logLine(log, line, true));
    log.show();
    return null;
  };
  const preview = new Preview();
  const importer = new Importer(sidecar, preview);
  const journal = new Journal(sidecar, {
    command: program,
    dataFolder: data,
  });
  const relay = new Relay(sidecar);
  const keptFiles = new KeptFiles(join(data, "unsent"));
  const panel = new Panel(
    context.extensionUri,
    sidecar,
    relay,
    new KeptView(context.workspaceState),
    {
      "host/restartSidecar": restart,
      "host/showLog": showLog,
      "host/openText": openText,
      "host/pickFiles": pickFiles,
      "host/readFile": ({ uri }) => readWorkspaceFile(uri, folders()),
      "host/keepFile": (file) => keptFiles.keep(file),
      "host/keptFile": ({ id }) => keptFiles.read(id),
      "host/forgetFiles": ({ ids }) => keptFiles.forget(ids),
      "host/openConfiguration": openConfiguration,
      "host/importServers": () => importer.run(),
      "host/setExampleServer": (params) => exampleServer.set(params),
      "host/chooseModel": async () => {
        await chooseModel(context.secrets);
        return null;
      },
      "host/setModelApiKey": async () => {
        await setModelApiKey(context.secrets);
        return null;
      },
      "host/openWalkthrough": async () => {
        await openWalkthrough(context, contexts);
        return null;
      },
    },
  );
  const attention = new Attention(panel, context.globalState, () =>
    sidecar.request("ask/list", undefined),
  );
  const status = new Status();
  const contexts = new Contexts(sidecar, context.globalState, (key, value) => {
    void vscode.commands.executeCommand("setContext", key, value);
  });
  const openWork = new OpenWork(sidecar, context.workspaceState);
  const openAsks = new OpenAsks(sidecar, (count) => {
    openWork.setOpenAsks(count);
    contexts.setOpenAsks(count);
    panel.setOpenAsks(count);
    attention.setOpenAsks(count, openAsks.quiet);
    status.setOpenAsks(count, openAsks.byTask, openAsks.unclaimed, openAsks.unattended);
  });
  // The sidecar asks the person, and has them notified, in the window that they use.
  const tellFocus = (): void => {
    if (vscode.window.state.focused && sidecar.status.state === "running") {
      sidecar.notify("window/didFocus", undefined);
    }
  };
  const command = (name: string, run: (...args: unknown[]) => unknown): vscode.Disposable =>
    registerCommand(`assent.${name}`, (...args: unknown[]) => {
      sidecar.start();
      return run(...args);
    });
  context.subscriptions.push(
    log,
    daemon,
    relay,
    panel,
    attention,
    status,
    contexts,
    openAsks,
    openWork,
    vscode.window.onDidChangeWindowState(tellFocus),
    { dispose: sidecar.onStatus(tellFocus) },
    vscode.window.registerWebviewViewProvider(Panel.id, panel),
    vscode.workspace.registerTextDocumentContentProvider(Preview.scheme, preview),
    vscode.workspace.registerTextDocumentContentProvider(Journal.scheme, journal),
    vscode.window.registerUriHandler(new Links({ sidecar, panel, preview, inputs })),
    registerChatParticipant(
      sidecar,
      vscode.Uri.joinPath(context.extensionUri, "media", "icon.png"),
    ),
    registerCommand(showInTaskCommand, (taskId: unknown, messageId: unknown) =>
      panel.reveal(placeInTask(taskId, messageId)),
    ),
    onConfigurationChange(context.secrets, () => void tellConfiguration()),
    command("newTask", () => panel.reveal({ kind: "newTask" })),
    command("askAbout", (...chosen) => askAbout(panel, chosen)),
    command("runTool", () => panel.reveal({ kind: "toolRunner" })),
    command("showOpenAsks", () => panel.reveal({ kind: "openAsks" })),
    command("nextAsk", () => panel.reveal({ kind: "nextAsk" })),
    command("previousAsk", () => panel.reveal({ kind: "previousAsk" })),
    command("restoreTask", () => panel.reveal({ kind: "restoreTask" })),
    command("showServers", () => panel.reveal({ kind: "servers" })),
    command("showMcpTasks", () => panel.reveal({ kind: "mcpTasks" })),
    command("showGrants", () => panel.reveal({ kind: "grants" })),
    command("showJournal", () => journal.show()),
    command("exportJournal", () => journal.export()),
    command("restartSidecar", restart),
    command("showLog", showLog),
    command("openConfiguration", () => openConfiguration(undefined)),
    command("importServers", () => importer.run()),
    command("tryExampleServer", () => panel.reveal({ kind: "exampleServer" })),
    command("chooseModel", () => chooseModel(context.secrets)),
    command("setModelApiKey", () => setModelApiKey(context.secrets)),
    command("forgetInputs", () => inputs.forgetAll()),
    command("openWalkthrough", () => openWalkthrough(context, contexts)),
    command("openGuide", () => openGuide(context)),
    command("signOut", () => signOut(secrets, sidecar)),
  );
  // A window that has servers wakes the extension, and may never use them. So the sidecar starts now only
  // if something waits for the person, and else at their first action.
  if (openWork.wasOpen) sidecar.start();
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}

/** A command can be run by anybody who can run one. */
function placeInTask(taskId: unknown, messageId: unknown): Reveal {
  if (typeof taskId !== "string") return { kind: "openAsks" };
  return typeof messageId === "number"
    ? { kind: "message", taskId, messageId }
    : { kind: "task", taskId };
}

async function openWalkthrough(
  { extension }: vscode.ExtensionContext,
  contexts: Contexts,
): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", `${extension.id}#start`);
  contexts.noteWalkthrough();
}

/** VS Code's page of the extension shows no file of the package, so the guide with its pictures has a command. */
async function openGuide({ extensionUri }: vscode.ExtensionContext): Promise<void> {
  const guide = vscode.Uri.joinPath(extensionUri, "docs", "guide.md");
  await vscode.commands.executeCommand("markdown.showPreview", guide);
}

/** The sidecar's memory has the logins too, for all windows. */
async function signOut(secrets: Secrets, sidecar: Sidecar): Promise<void> {
  const yes = vscode.l10n.t("Sign Out");
  const choice = await showWarningMessage(
    vscode.l10n.t("Sign out of every MCP server?"),
    {
      modal: true,
      detail: vscode.l10n.t(
        "Assent forgets what servers gave it when you signed in, in all windows. Nothing that is running ends. A server that needs you to sign in asks again at its next request.",
      ),
    },
    yes,
  );
  if (choice !== yes) return;
  await secrets.forget();
  await sidecar.request("login/forget", undefined);
}

function binary(context: vscode.ExtensionContext): string {
  const name = process.platform === "win32" ? "assent.exe" : "assent";
  return context.asAbsolutePath(join("bin", name));
}

/** Tasks belong to a workspace; without one, to the person. */
function dataFolder({ globalStorageUri }: vscode.ExtensionContext): string {
  const { workspaceFile, workspaceFolders = [] } = vscode.workspace;
  // An unsaved workspace has another file at each opening.
  const saved = workspaceFile?.scheme === "untitled" ? undefined : workspaceFile?.toString();
  return dataFolderOf(globalStorageUri.fsPath, {
    workspaceFile: saved,
    folders: workspaceFolders.map(({ uri }) => uri.toString()),
  });
}

/** Where the workspace's folders are. */
function folders(): readonly string[] {
  const { workspaceFolders = [] } = vscode.workspace;
  return workspaceFolders.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}

function logLevel(): string {
  return vscode.workspace.getConfiguration("assent").get("log.level", "info");
}

function isStandalone(): boolean {
  return vscode.workspace.getConfiguration("assent").get("standalone", false);
}

async function introduction(
  context: vscode.ExtensionContext,
  exampleServer: boolean,
): Promise<InitializeParams> {
  const { version } = context.extension.packageJSON as { readonly version: string };
  return {
    protocolVersion,
    clientInfo: { name: "VS Code", version },
    capabilities: {
      elicitation: true,
      sampling: true,
      languageModels: true,
      inputs: true,
      confirmServers: true,
      openUrl: true,
      secrets: true,
      attention: true,
    },
    configuration: await readConfiguration(context.secrets, exampleServer),
  };
}
