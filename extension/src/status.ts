import * as vscode from "vscode";
import type { TaskCount } from "./openAsks.ts";
import { inWords, statusTooltip } from "./statusWords.ts";
import { StatusBarItem } from "./window.ts";

/** The open asks in the status bar, while there are any. VS Code's own menu hides the item permanently. */
export class Status {
  readonly #item = new StatusBarItem(
    "openAsks",
    vscode.l10n.t("Assent: Open Questions"),
    "assent.showOpenAsks",
  );
  #tooltip: string | undefined;

  setOpenAsks(
    count: number,
    tasks: readonly TaskCount[],
    unattributed: number,
    unattended: number,
  ): void {
    if (count === 0) {
      this.#tooltip = undefined;
      this.#item.hide();
      return;
    }
    const tooltip = statusTooltip(count, tasks, unattributed, unattended);
    // Called after every event of a task, few of which change the number.
    if (tooltip === this.#tooltip) return;
    this.#tooltip = tooltip;
    const text =
      count === 1
        ? vscode.l10n.t("Assent: 1 question")
        : vscode.l10n.t("Assent: {0} questions", count);
    this.#item.show("comment-unresolved", text, tooltip, `Assent: ${inWords(count)}`);
  }

  dispose(): void {
    this.#item.dispose();
  }
}
