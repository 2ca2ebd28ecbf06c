import { homedir } from "node:os";
import type { ImportResult } from "@assent/protocol";
import * as vscode from "vscode";
import {
  commandOf,
  detailOf,
  hasNews,
  type ImportChoice,
  type ImportLine,
  importable,
  importLines,
  importProblems,
  importQuestion,
  nothingToImport,
  previewOf,
} from "./importChoices.ts";
import { openAt } from "./openSource.ts";
import type { Preview } from "./preview.ts";
import type { Sidecar } from "./sidecar.ts";
import { createQuickPick, showInformationMessage, showWarningMessage } from "./window.ts";

const title = (): string => vscode.l10n.t("Import MCP Servers");

interface Line extends vscode.QuickPickItem {
  readonly choice?: ImportChoice;
}

/**
 * Copies servers of other programs into a folder's mcp.json. The person chooses the servers, and sees what will be
 * written first, because it says which programs to start.
 */
export class Importer {
  readonly #sidecar: Sidecar;
  readonly #preview: Preview;

  constructor(sidecar: Sidecar, preview: Preview) {
    this.#sidecar = sidecar;
    this.#preview = preview;
  }

  async run(): Promise<null> {
    const folder = await chooseFolder();
    if (folder === undefined) return null;
    const chosen = await this.#choose();
    if (chosen === undefined || !(await this.#confirm(chosen, folder))) return null;
    const { path } = await this.#apply(chosen, folder);
    await openAt(vscode.Uri.file(path));
    return null;
  }

  async #choose(): Promise<readonly ImportChoice[] | undefined> {
    const found = await this.#sidecar.request("import/find", undefined);
    const problems = importProblems(found);
    if (problems.length > 0) {
      void showWarningMessage(
        vscode.l10n.t("Some configurations could not be read. {0}", problems.join(" ")),
      );
    }
    if (hasNews(found)) {
      return await pick(importQuestion(found), importLines(found, homedir()).map(asItem));
    }
    void showInformationMessage(nothingToImport(found));
    return undefined;
  }

  /** Asks for confirmation, beside a preview of all that will be written. */
  async #confirm(
    chosen: readonly ImportChoice[],
    folder: vscode.WorkspaceFolder,
  ): Promise<boolean> {
    const file = vscode.Uri.joinPath(folder.uri, ".vscode", "mcp.json");
    return await this.#preview.confirm({
      title: title(),
      text: previewOf(chosen, file.fsPath),
      add:
        chosen.length === 1
          ? vscode.l10n.t("Add This Server")
          : vscode.l10n.t("Add These {0} Servers", chosen.length),
    });
  }

  async #apply(
    chosen: readonly ImportChoice[],
    folder: vscode.WorkspaceFolder,
  ): Promise<ImportResult> {
    return await this.#sidecar.request("import/apply", {
      folder: folder.uri.fsPath,
      servers: chosen.map(({ path, name }) => ({ path, name })),
    });
  }
}

async function chooseFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(
    ({ uri }) => uri.scheme === "file",
  );
  if (!vscode.workspace.isTrusted) {
    void showInformationMessage(
      vscode.l10n.t("Trust this workspace first: servers are imported into its .vscode/mcp.json."),
    );
    return undefined;
  }
  if (folders.length > 1) {
    return await vscode.window.showWorkspaceFolderPick({
      placeHolder: vscode.l10n.t("Import into which folder?"),
    });
  }
  if (folders.length === 0) {
    void showInformationMessage(
      vscode.l10n.t("Open a folder first: servers are imported into its .vscode/mcp.json."),
    );
  }
  return folders[0];
}

async function pick(
  question: string,
  lines: readonly Line[],
): Promise<readonly ImportChoice[] | undefined> {
  const input = createQuickPick(lines);
  input.title = title();
  input.placeholder = question;
  input.canSelectMany = true;
  input.matchOnDescription = true;
  input.ignoreFocusOut = true;
  let before: readonly ImportChoice[] = [];
  input.onDidChangeSelection((selected) => {
    const now = selected.flatMap(({ choice }) => choice ?? []);
    before = importable(before, now);
    if (before.length < now.length) {
      const kept = new Set(before);
      input.selectedItems = selected.filter(({ choice }) => choice && kept.has(choice));
    }
  });
  try {
    return await new Promise((resolve) => {
      input.onDidAccept(() => resolve(before.length === 0 ? undefined : before));
      input.onDidHide(() => resolve(undefined));
      input.show();
    });
  } finally {
    input.dispose();
  }
}

function asItem(line: ImportLine): Line {
  if (line.kind === "heading") {
    return { label: line.label, kind: vscode.QuickPickItemKind.Separator };
  }
  const detail = detailOf(line);
  return {
    label: line.name,
    description: commandOf(line.server),
    ...(detail !== undefined && { detail }),
    choice: line,
  };
}
