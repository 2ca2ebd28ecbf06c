import * as vscode from "vscode";
import type { TaskCount } from "./openAsks.ts";
import { inWords, statusTooltip } from "./statusWords.ts";

/** The open asks in the status bar, as long as there are any. VS Code's own menu hides it for good. */
export class Status {
  readonly #item = vscode.window.createStatusBarItem("openAsks", vscode.StatusBarAlignment.Left);

  constructor() {
    this.#item.name = vscode.l10n.t("Assent: Open Questions");
    this.#item.command = "assent.showOpenAsks";
  }

  setOpenAsks(count: number, tasks: readonly TaskCount[], unclaimed: number): void {
    if (count === 0) {
      this.#item.tooltip = undefined;
      this.#item.hide();
      return;
    }
    const tooltip = statusTooltip(count, tasks, unclaimed);
    // It is told after every event of a task, of which few concern it.
    if (tooltip === this.#item.tooltip) return;
    this.#item.text = `$(comment-unresolved) ${count}`;
    this.#item.tooltip = tooltip;
    this.#item.accessibilityInformation = { label: `Assent: ${inWords(count)}`, role: "button" };
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}
