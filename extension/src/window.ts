import * as vscode from "vscode";
import { withoutIcons, withoutLinks } from "./plainText.ts";

// The only file that shows texts in VS Code's notifications, dialogs, lists, input boxes and status bar. VS Code turns
// parts of such texts into icons and into links that run commands. These functions escape every text, because a link, a
// server or a file may have supplied a part of it. A test forbids the originals in all other files.

/**
 * Shows a notification, or with `modal` a dialog with `detail`, which VS Code shows unchanged. Returns the chosen item.
 */
export async function showInformationMessage(
  message: string,
  options: vscode.MessageOptions = {},
  ...items: readonly string[]
): Promise<string | undefined> {
  return await vscode.window.showInformationMessage(withoutLinks(message), options, ...items);
}

/** Like {@link showInformationMessage}, as a warning. */
export async function showWarningMessage(
  message: string,
  options: vscode.MessageOptions = {},
  ...items: readonly string[]
): Promise<string | undefined> {
  return await vscode.window.showWarningMessage(withoutLinks(message), options, ...items);
}

/** Lets the person choose one of the items, and returns that item. */
export async function showQuickPick<T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
  token?: vscode.CancellationToken,
): Promise<T | undefined> {
  const shown = items.map(plainItem);
  const chosen = await vscode.window.showQuickPick(shown, options, token);
  return chosen === undefined ? undefined : items[shown.indexOf(chosen)];
}

/** A list with the items. The caller must not change their labels. */
export function createQuickPick<T extends vscode.QuickPickItem>(
  items: readonly T[],
): vscode.QuickPick<T> {
  const list = vscode.window.createQuickPick<T>();
  list.items = items.map(plainItem);
  return list;
}

/** Lets the person type a text. */
export async function showInputBox(
  options: vscode.InputBoxOptions & { readonly prompt: string },
  token?: vscode.CancellationToken,
): Promise<string | undefined> {
  const prompt = withoutIcons(withoutLinks(options.prompt));
  return await vscode.window.showInputBox({ ...options, prompt }, token);
}

/** An item of the status bar: an icon and Assent's own words. Foreign texts are only in its tooltip. */
export class StatusBarItem {
  readonly #item: vscode.StatusBarItem;

  constructor(id: string, name: string, command: string) {
    this.#item = vscode.window.createStatusBarItem(id, vscode.StatusBarAlignment.Left);
    this.#item.name = name;
    this.#item.command = command;
  }

  show(icon: string, text: string, tooltip: string, label: string): void {
    this.#item.text = `$(${icon}) ${text}`;
    this.#item.tooltip = withoutLinks(tooltip);
    this.#item.accessibilityInformation = { label, role: "button" };
    this.#item.show();
  }

  hide(): void {
    this.#item.hide();
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** Registers a command. VS Code shows the message of an error that the command throws. */
export function registerCommand(
  name: string,
  run: (...args: unknown[]) => unknown,
): vscode.Disposable {
  return vscode.commands.registerCommand(name, async (...args: unknown[]) => {
    try {
      return await run(...args);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(withoutLinks(message), { cause: error });
    }
  });
}

function plainItem<T extends vscode.QuickPickItem>(item: T): T {
  const { label, description, detail } = item;
  return {
    ...item,
    label: withoutIcons(label),
    ...(description !== undefined && { description: withoutIcons(description) }),
    ...(detail !== undefined && { detail: withoutIcons(detail) }),
  };
}
