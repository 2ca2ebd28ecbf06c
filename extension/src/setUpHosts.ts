import * as vscode from "vscode";
import type { ProgramLink } from "./programLink.ts";
import { showInformationMessage, showWarningMessage } from "./window.ts";

/**
 * Has the program where other programs find it, if the person agrees. Reports whether it is there now. A program there
 * that is not of the extension stays, and is not used.
 */
export async function addProgram(link: ProgramLink): Promise<boolean> {
  const state = await link.state();
  if (state === "other") {
    await showWarningMessage(
      vscode.l10n.t(
        "Another program is at {0}. Move it away first: other programs would start Assent from there.",
        link.path,
      ),
    );
    return false;
  }
  if (state === "absent" && !(await agrees(link))) return false;
  await link.set();
  return true;
}

/** Runs `assent setup` in a terminal, which shows its changes and asks first. */
export async function setUpInTerminal(link: ProgramLink): Promise<void> {
  if (!(await addProgram(link))) return;
  const terminal = vscode.window.createTerminal({
    name: vscode.l10n.t("Set Up Hosts"),
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
        "Claude Code, Codex, Cursor and other programs start Assent from there, and so can you in a terminal.",
      ),
    },
    add,
  );
  return chosen === add;
}
