import { homedir } from "node:os";
import { join } from "node:path";
import type { FrontEndRequests } from "@assent/protocol";
import type { Reveal } from "@assent/protocol/host";
import * as vscode from "vscode";
import { askAbout } from "./askAbout.ts";
import { Attention } from "./attention.ts";
import { Backend } from "./backend.ts";
import { registerChatParticipant, showInTaskCommand } from "./chatParticipant.ts";
import { offerServersToChat } from "./chatServers.ts";
import { type Commands, placeInTask, registerCommands } from "./commands.ts";
import { onConfigurationChange, readConfiguration } from "./configuration.ts";
import { ConfirmServer } from "./confirmServer.ts";
import { Contexts } from "./contexts.ts";
import { ExampleServer } from "./exampleServer.ts";
import { forgetSecrets } from "./forgetSecrets.ts";
import { frameUrl } from "./frameUrl.ts";
import { type FirstSteps, getStarted, openGuide, openWalkthrough } from "./getStarted.ts";
import type { Handlers } from "./handlers.ts";
import { Importer } from "./importServers.ts";
import { Inputs } from "./inputs.ts";
import { Journal } from "./journal.ts";
import { KeptFiles } from "./keptFiles.ts";
import { KeptView } from "./keptView.ts";
import { Links } from "./links.ts";
import { chooseModel, setModelApiKey } from "./modelSetup.ts";
import { listLanguageModels, sendLanguageModelRequest } from "./models.ts";
import { OpenAsks } from "./openAsks.ts";
import { openConfiguration } from "./openSource.ts";
import { openText } from "./openText.ts";
import { openUrl } from "./openUrl.ts";
import { OpenWork } from "./openWork.ts";
import { pickFiles } from "./pickFiles.ts";
import { Preview } from "./preview.ts";
import { ProgramLink } from "./programLink.ts";
import { Relay } from "./relay.ts";
import { Secrets } from "./secrets.ts";
import { addProgram, setUpInTerminal } from "./setUpHosts.ts";
import { Status } from "./status.ts";
import { type HostHandlers, Panel } from "./view.ts";
import { registerCommand } from "./window.ts";
import { readWorkspaceFile } from "./workspaceFile.ts";

/**
 * All of Assent in one window, from its activation to its deactivation. The constructor builds the parts, and `dispose`
 * ends them in reverse order: commands and views end before the sidecar that they use, and the log ends last.
 *
 * No part outlives the session, so a part that listens to the sidecar never stops listening. Two things live shorter:
 * the sidecar's process starts when it is first needed and again after a crash, and the panel's page lives while it is
 * visible.
 */
export class Session {
  readonly #context: vscode.ExtensionContext;
  readonly #parts: { dispose(): unknown }[] = [];
  readonly #log: vscode.LogOutputChannel;
  readonly #inputs: Inputs;
  readonly #secrets: Secrets;
  readonly #exampleServer: ExampleServer;
  readonly #backend: Backend;
  readonly #panel: Panel;
  readonly #firstSteps: FirstSteps;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    this.#log = this.#own(vscode.window.createOutputChannel("Assent", { log: true }));
    this.#inputs = new Inputs(context.secrets);
    this.#secrets = new Secrets(context.secrets);
    this.#exampleServer = new ExampleServer(context.workspaceState, () => this.#configure());
    const read = () => readConfiguration(context, this.#exampleServer.added);
    this.#backend = this.#own(new Backend(context, this.#log, this.#frontEnd(), read));
    const { sidecar, program, dataFolder } = this.#backend;

    const preview = new Preview();
    const journal = new Journal(sidecar, { command: program, dataFolder });
    const importer = new Importer(sidecar, preview);
    const contexts = new Contexts(sidecar, context.globalState, (key, value) => {
      void vscode.commands.executeCommand("setContext", key, value);
    });
    const link = new ProgramLink(program, homedir(), process.env, process.platform);
    link
      .refresh()
      .catch((error) => this.#log.warn(`${link.path} is of an earlier version: ${error}`));
    this.#firstSteps = {
      exampleServer: () => this.#panel.reveal({ kind: "exampleServer" }),
      importServers: () => importer.run(),
      setUpHosts: () => this.#panel.reveal({ kind: "setup" }),
      setUpInTerminal: () => setUpInTerminal(link),
      walkthrough: () => openWalkthrough(context.extension.id, contexts),
      guide: () => openGuide(context.extensionUri),
    };
    const view = new KeptView(context.workspaceState);
    const relay = new Relay(sidecar);
    this.#panel = this.#own(
      new Panel(context.extensionUri, sidecar, relay, view, this.#host(dataFolder, link)),
    );
    const openWork = this.#countOpenAsks(contexts);
    const icon = vscode.Uri.joinPath(context.extensionUri, "media", "icon.png");
    const links = { sidecar, panel: this.#panel, preview, inputs: this.#inputs };
    this.#own(
      vscode.Disposable.from(
        vscode.window.onDidChangeWindowState(() => this.#tellFocus()),
        vscode.window.registerWebviewViewProvider(Panel.id, this.#panel),
        vscode.workspace.registerTextDocumentContentProvider(Preview.scheme, preview),
        vscode.workspace.registerTextDocumentContentProvider(Journal.scheme, journal),
        vscode.window.registerUriHandler(new Links(links)),
        registerChatParticipant(sidecar, icon),
        offerServersToChat(this.#backend),
        onConfigurationChange(context.secrets, () => void this.#configure()),
        registerCommands(this.#commands(journal), sidecar),
        registerCommand(showInTaskCommand, (taskId, messageId) =>
          this.#panel.reveal(placeInTask(taskId, messageId)),
        ),
      ),
    );
    sidecar.onStatus(() => this.#tellFocus());
    // The extension activates in every window with servers, even if the person never uses them. So the sidecar starts
    // now only if something waits for the person, and otherwise at the person's first action.
    if (openWork.wasOpen) sidecar.start();
  }

  /** Resolves when the sidecar's process has ended. */
  async dispose(): Promise<void> {
    for (const part of this.#parts.toReversed()) await part.dispose();
  }

  #own<T extends { dispose(): unknown }>(part: T): T {
    this.#parts.push(part);
    return part;
  }

  /** Sends the current configuration. */
  async #configure(): Promise<void> {
    const configuration = await readConfiguration(this.#context, this.#exampleServer.added);
    this.#backend.sidecar.notify("workspace/didChangeConfiguration", configuration);
  }

  /** Tells the sidecar which window the person uses. It asks and notifies there. */
  #tellFocus(): void {
    const { sidecar } = this.#backend;
    if (vscode.window.state.focused && sidecar.status.state === "running") {
      sidecar.notify("window/didFocus", undefined);
    }
  }

  /** Passes the open asks on to all parts that show or store their number. */
  #countOpenAsks(contexts: Contexts): OpenWork {
    const { sidecar } = this.#backend;
    const { workspaceState } = this.#context;
    const openWork = new OpenWork(sidecar, workspaceState);
    const status = this.#own(new Status());
    const attention = this.#own(
      new Attention(this.#panel, () => sidecar.request("ask/list", undefined)),
    );
    const openAsks = new OpenAsks(sidecar, (count) => {
      if (openAsks.isRead) openWork.setOpenAsks(count);
      contexts.setOpenAsks(count);
      this.#panel.setOpenAsks(count);
      attention.setOpenAsks(count, openAsks.quiet);
      status.setOpenAsks(count, openAsks.byTask, openAsks.unattributed, openAsks.unattended);
    });
    return openWork;
  }

  /** The commands of the person. */
  #commands(journal: Journal): Commands {
    const { sidecar, showLog, restart } = this.#backend;
    const { secrets } = this.#context;
    const reveal = (what: Reveal) => () => this.#panel.reveal(what);
    return {
      newTask: reveal({ kind: "newTask" }),
      askAbout: (...chosen) => askAbout(this.#panel, chosen),
      runTool: reveal({ kind: "toolRunner" }),
      showOpenAsks: reveal({ kind: "openAsks" }),
      nextAsk: (way) =>
        this.#panel.reveal({ kind: way === "previous" ? "previousAsk" : "nextAsk" }),
      showServers: reveal({ kind: "servers" }),
      showMcpTasks: reveal({ kind: "mcpTasks" }),
      showAutomaticAnswers: reveal({ kind: "policy" }),
      showJournal: () => journal.open(),
      openConfiguration: () => openConfiguration(undefined),
      chooseModel: () => chooseModel(secrets),
      forgetSecrets: () => forgetSecrets(this.#inputs, this.#secrets, sidecar),
      setUpHosts: reveal({ kind: "setup" }),
      getStarted: (step) => getStarted(this.#firstSteps, step),
      showLog,
      restartSidecar: restart,
    };
  }

  /** The requests of the sidecar. */
  #frontEnd(): Handlers<FrontEndRequests> {
    const confirmServer = new ConfirmServer();
    return {
      "input/prompt": (params, token) => this.#inputs.prompt(params, token),
      "server/confirm": (params, token) => confirmServer.ask(params, token),
      "window/openUrl": openUrl,
      "secret/get": (params) => this.#secrets.get(params),
      "secret/set": (params) => this.#secrets.set(params),
      "languageModel/list": listLanguageModels,
      "languageModel/send": (request, token) => {
        const { requestId } = request;
        const piece = (text: string): void =>
          this.#backend.sidecar.notify("languageModel/progress", { requestId, text });
        return sendLanguageModelRequest(request, piece, token);
      },
    };
  }

  /** The requests of the panel's page. */
  #host(dataFolder: string, link: ProgramLink): HostHandlers {
    const { secrets } = this.#context;
    const keptFiles = new KeptFiles(join(dataFolder, "unsent"));
    const { importServers, walkthrough } = this.#firstSteps;
    return {
      "host/restartSidecar": this.#backend.restart,
      "host/showLog": this.#backend.showLog,
      "host/openText": openText,
      "host/frameUrl": frameUrl,
      "host/pickFiles": pickFiles,
      "host/readFile": ({ uri }) => readWorkspaceFile(uri, folders()),
      "host/keepFile": (file) => keptFiles.keep(file),
      "host/keptFile": ({ id }) => keptFiles.read(id),
      "host/forgetFiles": ({ ids }) => keptFiles.forget(ids),
      "host/openConfiguration": openConfiguration,
      "host/importServers": done(importServers),
      "host/setExampleServer": (params) => this.#exampleServer.set(params),
      "host/chooseModel": done(() => chooseModel(secrets)),
      "host/setModelApiKey": done(() => setModelApiKey(secrets)),
      "host/openWalkthrough": done(walkthrough),
      "host/addProgram": async () => ({ added: await addProgram(link) }),
    };
  }
}

/** Wraps a handler without a result, so that it answers with null. */
function done(act: () => unknown): () => Promise<null> {
  return async () => {
    await act();
    return null;
  };
}

/** The paths of the workspace's folders. */
function folders(): readonly string[] {
  const { workspaceFolders = [] } = vscode.workspace;
  return workspaceFolders.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}
