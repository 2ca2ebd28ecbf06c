import type { Ask, Call, CallRequest } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import type { Actions } from "../../store/session.ts";
import { useView } from "../../view/ViewContext.ts";
import { parseDraft } from "../../view/viewState.ts";
import { typedBeforeKey } from "../elicitation/typedBefore.ts";
import { Refusal } from "../ui/Refusal.tsx";
import { useStart } from "../ui/useStart.ts";

export interface RunAgainProps {
  readonly taskId: string;
  /** The asks that were lost with the call. */
  readonly asks: readonly Ask[];
  /** The call that was lost. */
  readonly call: Call;
  readonly actions: Actions;
}

/** Offers to make a lost call again, if asks were lost with it. */
export function RunAgain({ taskId, asks, call, actions }: RunAgainProps) {
  const { serverName, request } = call;
  const view = useView();
  const { busy, refusal, start } = useStart(async () => {
    for (const { askId, question, draft: kept } of asks) {
      const draft = view.draft(askId) ?? parseDraft(kept);
      if (draft !== undefined && question.type === "mcp_elicitation") {
        view.setDraft(typedBeforeKey(taskId, question), draft);
      }
    }
    await actions.startCall({ serverName, request });
  });
  return (
    <div className="run-again">
      {asks.length > 0 && (
        <p className="muted">
          {l10n.t(
            "The call was lost together with this question. Calling again starts from the beginning.",
          )}
        </p>
      )}
      <div className="actions">
        <button type="button" className="secondary" aria-disabled={busy} onClick={() => start()}>
          {again[request.type]()}
        </button>
      </div>
      {refusal !== undefined && (
        <Refusal message={refusal instanceof Error ? refusal.message : String(refusal)} />
      )}
    </div>
  );
}

const again: Readonly<Record<CallRequest["type"], () => string>> = {
  "tools/call": () => l10n.t("Run the Tool Again"),
  "resources/read": () => l10n.t("Read the Resource Again"),
  "prompts/get": () => l10n.t("Get the Prompt Again"),
  "tasks/result": () => l10n.t("Follow the MCP Task Again"),
};
