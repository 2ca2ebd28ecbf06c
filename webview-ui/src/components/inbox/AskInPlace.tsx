import type { OpenAsk } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import { useView } from "../../view/ViewContext.ts";
import type { Draft } from "../../view/viewState.ts";
import { type Answer, useAnswer } from "../ask/useAnswer.ts";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { FieldsForm } from "../form/FieldsForm.tsx";
import { refusedProblems } from "../form/refusedProblems.ts";
import { Refusal } from "../ui/Refusal.tsx";

export interface AskInPlaceProps {
  /** A simple one. */
  readonly ask: Pick<OpenAsk, "wants" | "fields">;
  /** Names its draft. The card and this form share it. */
  readonly askId: string;
  readonly serverName: string;
  /** Rejects if the answer was refused. */
  readonly onAnswer: (answer: Answer) => Promise<void>;
  /** Stores the draft, as the card does. */
  readonly onDraft: (draft: Draft) => void;
}

/** The controls of a simple question in a list: its one field, and the buttons. */
export function AskInPlace(props: AskInPlaceProps) {
  const { ask, askId, serverName, onAnswer, onDraft } = props;
  const { wants, fields = noFields } = ask;
  const view = useView();
  const { busy, refusal, answer } = useAnswer(onAnswer);
  const ready = useClickGuard() && !busy;
  const problems = refusedProblems(refusal);
  const decline = () => {
    if (ready) answer({ askResponse: "noButtonClicked" });
  };
  const isTool = wants === "use_mcp_tool" || wants === "use_mcp_tool_for_app";
  return (
    <fieldset className="ask-in-place" aria-label={l10n.t("Answer {0}", visible(serverName))}>
      {refusal !== undefined && problems === undefined && <Refusal message={refusal.message} />}
      <FieldsForm
        fields={fields}
        draft={view.draft(askId)}
        onDraft={(draft) => {
          view.setDraft(askId, draft);
          onDraft(draft);
        }}
        disabled={busy}
        refused={problems}
        onSubmit={(elicitationContent) => {
          if (!ready) return;
          answer({ askResponse: "yesButtonClicked", ...(!isTool && { elicitationContent }) });
        }}
      >
        <div className="actions">
          <button type="submit" className="primary small" aria-disabled={!ready}>
            {isTool ? l10n.t("Allow") : l10n.t("Submit")}
          </button>
          <button
            type="button"
            className="secondary small"
            aria-disabled={!ready}
            onClick={decline}
          >
            {l10n.t("Decline")}
          </button>
        </div>
      </FieldsForm>
    </fieldset>
  );
}

const noFields = [] as const;
