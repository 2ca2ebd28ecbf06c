import type { Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { IconButton } from "../ui/IconButton.tsx";

export interface OtherWorkspaceProps {
  readonly task: Task;
  readonly workspace: string;
  readonly actions: Pick<Actions, "stopChat">;
}

/** Replaces the composer, because the task's workspace has other servers and models. */
export function OtherWorkspace({ task, workspace, actions }: OtherWorkspaceProps) {
  return (
    <section className="other-workspace" aria-label={l10n.t("Another workspace")}>
      <p className="muted">
        {l10n.t(
          "This conversation belongs to {0}. Continue it in a window of that workspace.",
          visible(workspace),
        )}
      </p>
      {task.running === true && (
        <IconButton
          icon="stop-circle"
          label={l10n.t("Stop")}
          onClick={() => actions.stopChat(task.id)}
        />
      )}
    </section>
  );
}
