import * as vscode from "vscode";
import type { Contexts } from "./contexts.ts";
import { showQuickPick } from "./window.ts";

/** The first steps, by the names that links use. */
export type FirstSteps = Readonly<
  Record<
    "exampleServer" | "importServers" | "setUpHosts" | "setUpInTerminal" | "walkthrough" | "guide",
    () => unknown
  >
>;

export async function openWalkthrough(extensionId: string, contexts: Contexts): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", `${extensionId}#start`);
  contexts.noteWalkthrough();
}

/** VS Code's page of the extension shows no files of the package, so a command opens the guide with its pictures. */
export async function openGuide(extensionUri: vscode.Uri): Promise<void> {
  const guide = vscode.Uri.joinPath(extensionUri, "docs", "guide.md");
  await vscode.commands.executeCommand("markdown.showPreview", guide);
}

/** Takes the first step that a link names, or lets the person choose one. */
export async function getStarted(steps: FirstSteps, wanted: unknown): Promise<void> {
  const items = [
    { label: vscode.l10n.t("Try the Example Server"), step: steps.exampleServer },
    { label: vscode.l10n.t("Import MCP Servers…"), step: steps.importServers },
    { label: vscode.l10n.t("Set Up Hosts"), step: steps.setUpHosts },
    {
      label: vscode.l10n.t("Set Up Hosts in a Terminal…"),
      step: steps.setUpInTerminal,
    },
    { label: vscode.l10n.t("Open Walkthrough"), step: steps.walkthrough },
    { label: vscode.l10n.t("Open Guide"), step: steps.guide },
  ];
  const named = Object.entries(steps).find(([name]) => name === wanted)?.[1];
  const title = vscode.l10n.t("Get Started with Assent");
  const step = named ?? (await showQuickPick(items, { title }))?.step;
  await step?.();
}
