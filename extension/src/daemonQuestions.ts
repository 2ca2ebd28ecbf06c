import * as vscode from "vscode";
import { showInformationMessage, showWarningMessage } from "./window.ts";

/** Where it is kept about which daemon the person was asked, for all windows. */
const askedKey = "update.asked";

/**
 * Asks whether to end an earlier version now. Resolves to false if the person was not asked: only one window asks about a
 * daemon, the first that the person uses, unless the question is over before.
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
      "Assent was updated, but the earlier version is still running: {0}. Update Now ends what is open there.",
      why,
    ),
    {},
    now,
    vscode.l10n.t("Wait"),
  );
  return choice === now;
}

/** Asks whether to end a daemon that hangs, in the window that the person uses. VS Code cannot take the question back. */
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
