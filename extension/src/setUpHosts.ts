import * as vscode from "vscode";
import type { ProgramLink } from "./programLink.ts";
import { showInformationMessage, showWarningMessage } from "./window.ts";

/**
 * Runs `assent setup` in a terminal, which shows its changes and asks first. The other programs will start
 * Assent by its link, which is set before if the person agrees.
 */
export async function setUpHosts(link: ProgramLink): Promise<void> {
  const state = await link.state();
  if (state === "other") {
    await showWarningMessage(
      vscode.l10n.t(
        "Another program is at {0}. Move it away first: other programs would start Assent from there.",
        link.path,
      ),
    );
    return;
  }
  if (state === "absent" && !(await agrees(link))) return;
  await link.set();
  const terminal = vscode.window.createTerminal({
    name: vscode.l10n.t("Set Up Other Programs"),
    // The shell stays, so that the result can be read.
    ...(process.platform === "win32"
      ? { shellPath: "cmd.exe", shellArgs: ["/k", link.path, "setup"] }
      : {
          shellPath: "/bin/sh",
          shellArgs: ["-c", '"$0" setup; exec "$1"', link.path, vscode.env.shell],
        }),
  });
  terminal.show();
}

async function agrees(link: ProgramLink): Promise<boolean> {
  const add = vscode.l10n.t("Add");
  const chosen = await showInformationMessage(
    vscode.l10n.t("Add the program assent to {0}?", link.path),
    {
      modal: true,
      detail: vscode.l10n.t(
        "Claude Code, Codex, Cursor and other programs start Assent from there. A terminal then shows what would change in their files, and asks before it changes anything.",
      ),
    },
    add,
  );
  return chosen === add;
}
