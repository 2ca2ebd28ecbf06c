import * as vscode from "vscode";
import type { Inputs } from "./inputs.ts";
import { LinkError, type LinkedServer, parseLink, previewOfLink } from "./link.ts";
import type { Preview } from "./preview.ts";
import type { Sidecar } from "./sidecar.ts";
import type { Panel } from "./view.ts";
import { showWarningMessage } from "./window.ts";

/** The source under which the values of the settings' inputs are stored; see {@link Inputs}. */
const settingsSource = "settings";

/** The parts of the extension that a link can reach. */
export interface LinkTargets {
  readonly sidecar: Sidecar;
  readonly panel: Panel;
  readonly preview: Preview;
  readonly inputs: Inputs;
}

/**
 * Follows links to Assent, which anyone may have written. A link shows something, or adds a server to the settings
 * after the person has seen and confirmed all of it. A link never starts anything.
 */
export class Links implements vscode.UriHandler {
  readonly #targets: LinkTargets;

  constructor(targets: LinkTargets) {
    this.#targets = targets;
  }

  async handleUri({ path, query }: vscode.Uri): Promise<void> {
    this.#targets.sidecar.start();
    try {
      await this.#follow(path, query);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      void showWarningMessage(message);
    }
  }

  async #follow(path: string, query: string): Promise<void> {
    const { panel } = this.#targets;
    const link = parseLink(path, query);
    switch (link.kind) {
      case "inbox":
        return await panel.reveal({ kind: "openAsks" });
      case "task":
        return await this.#showTask(link.taskId);
      case "install":
        return await this.#install(link.server);
      default:
        return link satisfies never;
    }
  }

  async #showTask(taskId: string): Promise<void> {
    const { panel, sidecar } = this.#targets;
    const { tasks = [] } = await sidecar.request("task/list", undefined);
    if (!tasks.some(({ id }) => id === taskId)) {
      throw new LinkError(
        vscode.l10n.t(
          "The link leads to a task of another workspace. Open that workspace's folder and follow the link again.",
        ),
      );
    }
    await panel.reveal({ kind: "task", taskId });
  }

  async #install(server: LinkedServer): Promise<void> {
    const { panel, preview } = this.#targets;
    await this.#refuseKnown(server);
    const confirmed = await preview.confirm({
      title: vscode.l10n.t("Add MCP Server"),
      text: previewOfLink(server),
      add: vscode.l10n.t("Add This Server"),
    });
    if (!confirmed) return;
    await this.#refuseKnown(server); // one may have been added in the meantime
    await this.#write(server);
    await panel.reveal({ kind: "servers", serverName: server.name });
  }

  /** Refuses a server that is already configured. */
  async #refuseKnown({ name }: LinkedServer): Promise<void> {
    const { servers = [] } = await this.#targets.sidecar.request("server/list", undefined);
    const known = servers.find((server) => server.name === name);
    if (known === undefined && !Object.hasOwn(ownServers(), name)) return;
    throw new LinkError(
      vscode.l10n.t(
        "Cannot add the link's server: {1} already has a server {0}. Rename or remove that one first.",
        name,
        known?.source ?? settingsSource,
      ),
    );
  }

  async #write({ name, entry, inputs }: LinkedServer): Promise<void> {
    const settings = vscode.workspace.getConfiguration("assent");
    const target = vscode.ConfigurationTarget.Global;
    if (inputs.length > 0) {
      // Values typed for a removed server of the same name are not for this one.
      await Promise.all(inputs.map(({ id }) => this.#targets.inputs.forget(settingsSource, id)));
      const ids = new Set(inputs.map(({ id }) => id));
      const others = (
        settings.inspect<readonly { readonly id: string }[]>("inputs")?.globalValue ?? []
      ).filter(({ id }) => !ids.has(id));
      await settings.update("inputs", [...others, ...inputs], target);
    }
    await settings.update("servers", { ...ownServers(), [name]: entry }, target);
  }
}

/** The servers of the settings, as the person wrote them. */
function ownServers(): Readonly<Record<string, unknown>> {
  const settings = vscode.workspace.getConfiguration("assent");
  return settings.inspect<Record<string, unknown>>("servers")?.globalValue ?? {};
}
