import { spawn } from "node:child_process";
import { type FileHandle, open } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { type JournalFilter, journalArgs, journalText } from "./journalText.ts";
import type { Sidecar } from "./sidecar.ts";
import { showInformationMessage, showQuickPick } from "./window.ts";

/** How many records a document shows. */
const mostShown = 1000;

/** How much of the program's error message is shown, in characters. */
const mostProblem = 1000;

export interface JournalOptions {
  /** The sidecar's program, which also reads the journal. */
  readonly command: string;
  readonly dataFolder: string;
}

interface FilterItem extends vscode.QuickPickItem {
  readonly filter?: JournalFilter;
}

/** Shows the journal as a document that cannot be changed, and writes it to a file. */
export class Journal implements vscode.TextDocumentContentProvider {
  static readonly scheme = "assent-journal";

  readonly #sidecar: Sidecar;
  readonly #options: JournalOptions;
  /** The documents that will be opened, by URI. */
  readonly #texts = new Map<string, string>();

  constructor(sidecar: Sidecar, options: JournalOptions) {
    this.#sidecar = sidecar;
    this.#options = options;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const key = uri.toString();
    const text =
      this.#texts.get(key) ??
      vscode.l10n.t("This view is from an earlier session. Show the journal again.");
    this.#texts.delete(key); // VS Code has the text from now on
    return text;
  }

  /** Lets the person choose a part of the journal, and whether to show it or write it to a file. */
  async open(): Promise<void> {
    const title = vscode.l10n.t("Journal");
    const filter = await this.#choose(title);
    if (filter === undefined) return;
    const show = { label: vscode.l10n.t("Show in an Editor") };
    const write = { label: vscode.l10n.t("Export to a File…") };
    const chosen = await showQuickPick([show, write], { title, placeHolder: filter.label });
    if (chosen === show) await this.#show(filter);
    else if (chosen === write) await this.#export(filter);
  }

  async #show(filter: JournalFilter): Promise<void> {
    const listed = await this.#sidecar.request("journal/list", {
      ...filter.params,
      limit: mostShown,
    });
    const { command, dataFolder } = this.#options;
    // VS Code caches the text of a document, so each one has a new URI.
    const uri = vscode.Uri.from({
      scheme: Journal.scheme,
      path: "/Assent Journal.txt",
      query: String(Date.now()),
    });
    const verify = [command, ...journalArgs("verify", dataFolder)];
    this.#texts.set(uri.toString(), journalText(listed, filter.label, verify));
    await vscode.window.showTextDocument(uri, { preview: true });
    await vscode.commands.executeCommand("editor.foldAll"); // one line for each record
  }

  async #export(filter: JournalFilter): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());
    const target = await vscode.window.showSaveDialog({
      title: vscode.l10n.t("Export Journal"),
      defaultUri: vscode.Uri.file(join(folder.fsPath, "assent-journal.jsonl")),
      filters: { "JSON Lines": ["jsonl"] },
    });
    if (target === undefined) return;
    const { command, dataFolder } = this.#options;
    // A part may be longer than a message can be, so the program writes it directly into the file.
    const file = await open(target.fsPath, "w", 0o600);
    try {
      await run(command, journalArgs("export", dataFolder, filter.params), file);
    } finally {
      await file.close();
    }
    const show = vscode.l10n.t("Open");
    const choice = await showInformationMessage(
      vscode.l10n.t("The journal ({0}) was saved to {1}.", filter.label, target.fsPath),
      {},
      show,
    );
    if (choice === show) await vscode.window.showTextDocument(target);
  }

  async #choose(title: string): Promise<JournalFilter | undefined> {
    const [{ servers = [] }, { tasks = [] }] = await Promise.all([
      this.#sidecar.request("server/list", undefined),
      this.#sidecar.request("task/list", undefined),
    ]);
    const separator = (label: string): FilterItem => ({
      label,
      kind: vscode.QuickPickItemKind.Separator,
    });
    const items: FilterItem[] = [
      {
        label: vscode.l10n.t("Everything"),
        filter: { label: vscode.l10n.t("everything"), params: {} },
      },
      separator(vscode.l10n.t("Servers")),
      ...servers.map(({ name }) => ({
        label: name,
        filter: { label: vscode.l10n.t("the server {0}", name), params: { serverName: name } },
      })),
      separator(vscode.l10n.t("Tasks")),
      ...tasks.map(({ id, title: name, createdAt }) => ({
        label: name === "" ? vscode.l10n.t("New task") : name,
        description: new Date(createdAt).toLocaleString(),
        filter: { label: vscode.l10n.t("the task {0}", name), params: { taskId: id } },
      })),
    ];
    const chosen = await showQuickPick(items, {
      title,
      placeHolder: vscode.l10n.t("Choose which records"),
      matchOnDescription: true,
    });
    return chosen?.filter;
  }
}

/** Runs a program, and writes its output into a file. */
async function run(command: string, args: readonly string[], file: FileHandle): Promise<void> {
  const child = spawn(command, args, { stdio: ["ignore", file.fd, "pipe"] });
  let problem = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    problem = (problem + text).slice(0, mostProblem);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("close", resolve);
  });
  if (code !== 0) {
    throw new Error(
      vscode.l10n.t(
        "The journal was not exported: {0}",
        problem.trim() || vscode.l10n.t("exit code {0}", String(code)),
      ),
    );
  }
}
