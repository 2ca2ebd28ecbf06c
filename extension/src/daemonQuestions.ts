import * as vscode from "vscode";
import { showInformationMessage, showWarningMessage } from "./window.ts";

/** The state that says, for all windows, about which daemon the person was asked. */
const askedKey = "update.asked";

/**
 * Asks whether to end an earlier version now. Only one window asks about a daemon: the first one that the person uses.
 * Resolves to false if this window did not ask, or if the signal is aborted first.
 */
export async function askToUpdate(
  state: vscode.Memento,
  why: string,
  pid: number | undefined,
  over: AbortSignal,
): Promise<boolean> {
  await focused(over);
  if (over.aborted || (pid !== undefined && state.get(askedKey) === pid)) return false;
  await state.update(askedKey, pid);
  const now = vscode.l10n.t("Update Now");
  const choice = await showInformationMessage(
    vscode.l10n.t(
      "Assent was updated, but the earlier version is still running: {0}. Update Now ends that work.",
      why,
    ),
    {},
    now,
    vscode.l10n.t("Wait"),
  );
  return choice === now;
}

/**
 * Asks, in the window that the person uses, whether to end a daemon that hangs. VS Code cannot withdraw the question.
 */
export async function askToEnd(pid: number, over: AbortSignal): Promise<boolean> {
  await focused(over);
  if (over.aborted) return false;
  const end = vscode.l10n.t("End and Start Again");
  const choice = await showWarningMessage(
    vscode.l10n.t(
      "Assent does not respond. You can wait, or end its process ({0}) for all windows. Its running calls then end.",
      String(pid),
    ),
    {},
    end,
    vscode.l10n.t("Wait"),
  );
  return choice === end && !over.aborted;
}

/** Resolves when the person uses this window, or the signal is aborted. */
async function focused(over: AbortSignal): Promise<void> {
  if (vscode.window.state.focused || over.aborted) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      listening.dispose();
      over.removeEventListener("abort", settle);
      resolve();
    };
    const listening = vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) settle();
    });
    over.addEventListener("abort", settle);
  });
}
