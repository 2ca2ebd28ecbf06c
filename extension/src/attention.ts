import type { ListOpenAsksResult } from "@assent/protocol";
import * as vscode from "vscode";
import { attentionText } from "./attentionWords.ts";
import type { Panel } from "./view.ts";
import { showInformationMessage } from "./window.ts";

/** Milliseconds to wait, so that questions that come together make one notification. */
const gatherMs = 300;

/** VS Code as a host of the gateway, as the sidecar names it. */
const ownChat = "VS Code";

/**
 * Notifies the person of open questions while the panel is hidden: one notification for all of them, and another only
 * after all of them were settled. A question that VS Code's own chat causes shows the panel instead, because the person
 * is in this window and waits for the answer. The chat keeps the focus. VS Code turns a notification's source off and on
 * again, under the gear of each, so there is no button for that.
 */
export class Attention {
  readonly #panel: Panel;
  readonly #list: () => Promise<ListOpenAsksResult>;
  #count = 0;
  #told = false;
  #quiet = false;
  #gathering: NodeJS.Timeout | undefined;

  /** `list` reads the open questions. */
  constructor(panel: Panel, list: () => Promise<ListOpenAsksResult>) {
    this.#panel = panel;
    this.#list = list;
  }

  /** Quiet: another window of this workspace notifies the person. */
  setOpenAsks(count: number, quiet: boolean): void {
    this.#quiet = quiet;
    const grew = count > this.#count;
    this.#count = count;
    if (count === 0) this.#told = false;
    // The panel may be on its way out, and VS Code says so a moment later.
    if (grew) this.#gathering ??= setTimeout(() => void this.#tell(), gatherMs);
  }

  dispose(): void {
    clearTimeout(this.#gathering);
  }

  async #tell(): Promise<void> {
    this.#gathering = undefined;
    if (this.#count === 0 || this.#told || this.#quiet || this.#panel.visible) return;
    this.#told = true;
    const list = await this.#asks();
    const caused = list?.asks?.find(
      ({ host, workspace }) => host === ownChat && workspace === undefined,
    );
    if (caused !== undefined && !this.#panel.visible) {
      await this.#panel.reveal({ kind: "task", taskId: caused.taskId }, true);
      return;
    }
    const text = list && attentionText(list);
    if (text === undefined || this.#panel.visible) {
      this.#told = false; // the person was not notified of these
      return;
    }
    const show = vscode.l10n.t("Show");
    const choice = await showInformationMessage(text, {}, show);
    if (choice === show) await this.#panel.reveal({ kind: "ask" });
  }

  /** Undefined if nothing waits any more, or the sidecar has ended: the next sidecar starts over. */
  async #asks(): Promise<ListOpenAsksResult | undefined> {
    try {
      return await this.#list();
    } catch {
      return undefined;
    }
  }
}
