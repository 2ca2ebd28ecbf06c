import * as vscode from "vscode";
import type { Inputs } from "./inputs.ts";
import type { Secrets } from "./secrets.ts";
import type { Sidecar } from "./sidecar.ts";
import { showQuickPick, showWarningMessage } from "./window.ts";

/** Lets the person choose what Assent forgets: sign-ins at servers, or values of inputs. */
export async function forgetSecrets(
  inputs: Inputs,
  secrets: Secrets,
  sidecar: Sidecar,
): Promise<void> {
  const logins = {
    label: vscode.l10n.t("Sign Out of MCP Servers"),
    detail: vscode.l10n.t("Each server that needs you to sign in asks again."),
  };
  const values = {
    label: vscode.l10n.t("Forget MCP Input Values"),
    detail: vscode.l10n.t("Servers ask for them again at their next start."),
  };
  const title = vscode.l10n.t("Forget Sign-Ins or Input Values");
  const chosen = await showQuickPick([logins, values], { title });
  if (chosen === logins) await signOut(secrets, sidecar);
  else if (chosen === values) await inputs.forgetAll();
}

/** The sidecar also has the sign-ins in memory, for all windows. */
async function signOut(secrets: Secrets, sidecar: Sidecar): Promise<void> {
  const yes = vscode.l10n.t("Sign Out");
  const choice = await showWarningMessage(
    vscode.l10n.t("Sign out of every MCP server?"),
    {
      modal: true,
      detail: vscode.l10n.t(
        "Assent deletes the sign-ins of all MCP servers, in all windows. Running calls go on. A server that needs you to sign in asks at its next request.",
      ),
    },
    yes,
  );
  if (choice !== yes) return;
  await secrets.forget();
  await sidecar.request("login/forget", undefined);
}
