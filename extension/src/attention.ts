import * as vscode from "vscode";
import type { Panel } from "./view.ts";
import { showInformationMessage } from "./window.ts";

const mutedKey = "attention.muted";

/** Several questions that come together make one notification. */
const gatherMs = 300;

/**
 * Tells about questions that wait while the panel is hidden: once, with one notification for all of
 * them, and again only after all of them were settled.
 */
export class Attention {
  readonly #panel: Panel;
  readonly #state: vscode.Memento;
  #count = 0;
  #told = false;
  #gathering: NodeJS.Timeout | undefined;

  constructor(panel: Panel, state: vscode.Memento) {
    this.#panel = panel;
    this.#state = state;
  }

  setOpenAsks(count: number): void {
    const grew = count > this.#count;
    this.#count = count;
    if (count === 0) this.#told = false;
    if (grew && !this.#panel.visible) {
      this.#gathering ??= setTimeout(() => void this.#tell(), gatherMs);
    }
  }

  dispose(): void {
    clearTimeout(this.#gathering);
  }

  async #tell(): Promise<void> {
    this.#gathering = undefined;
    if (this.#count === 0 || this.#told || this.#panel.visible) return;
    if (this.#state.get(mutedKey) === true) return;
    this.#told = true;
    const text =
      this.#count === 1
        ? vscode.l10n.t("1 question from an MCP server waits for you.")
        : vscode.l10n.t("{0} questions from MCP servers wait for you.", this.#count);
    const review = vscode.l10n.t("Review");
    const mute = vscode.l10n.t("Do Not Show Again");
    const choice = await showInformationMessage(text, {}, review, mute);
    if (choice === review) await this.#panel.reveal({ kind: "ask" });
    if (choice === mute) await this.#state.update(mutedKey, true);
  }
}
