import type { Field } from "@assent/protocol";
import type { ReactNode } from "react";
import { messageOf } from "../../link/client.ts";
import { useView } from "../../view/ViewContext.ts";
import { Markdown } from "../content/Markdown.tsx";
import { type Complete, FieldsForm } from "../form/FieldsForm.tsx";
import type { ExactNumbers } from "../form/readInputs.ts";
import { refusedProblems } from "../form/refusedProblems.ts";
import { Refusal } from "../ui/Refusal.tsx";
import { useStart } from "../ui/useStart.ts";

export interface RequestFormProps {
  /** Names the draft in the view's state; unique in the panel. */
  readonly draftKey: string;
  readonly description: string | undefined;
  readonly fields: readonly Field[];
  /** What the button says. */
  readonly verb: string;
  /** Nothing can be asked now. */
  readonly disabled: boolean;
  /** Proposes what texts could be; absent where nobody can. */
  readonly complete?: Complete | undefined;
  /** What becomes of numbers that a double does not hold; see {@link FieldsForm}. */
  readonly exactNumbers?: ExactNumbers;
  /** What else is chosen for the request, under its form. */
  readonly children?: ReactNode;
  /** Resolves when the call has begun; rejects where it could not. */
  readonly onRun: (content: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** What a tool, a template or a prompt is for, and the form of what it wants to know. */
export function RequestForm(props: RequestFormProps) {
  const {
    draftKey,
    description = "",
    fields,
    verb,
    disabled,
    complete,
    exactNumbers,
    children,
    onRun,
  } = props;
  const view = useView();
  const { busy, refusal, start } = useStart(onRun);
  const problems = refusedProblems(refusal);
  return (
    <>
      {description !== "" && <Markdown text={description} />}
      <FieldsForm
        fields={fields}
        draft={view.draft(draftKey)}
        onDraft={(draft) => view.setDraft(draftKey, draft)}
        disabled={disabled || busy}
        refused={problems}
        complete={complete}
        {...(exactNumbers !== undefined && { exactNumbers })}
        onSubmit={start}
      >
        {children}
        {refusal !== undefined && problems === undefined && (
          <Refusal message={messageOf(refusal)} />
        )}
        <div className="actions">
          <button type="submit" className="primary" disabled={disabled || busy}>
            {verb}
          </button>
        </div>
      </FieldsForm>
    </>
  );
}
