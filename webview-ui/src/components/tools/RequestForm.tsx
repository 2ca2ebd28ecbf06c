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
  /** The button's label. */
  readonly verb: string;
  /** No request can be sent now. */
  readonly disabled: boolean;
  /** Suggests texts; undefined if there is no provider. */
  readonly complete?: Complete | undefined;
  /** How to treat numbers that a double cannot hold; see {@link FieldsForm}. */
  readonly exactNumbers?: ExactNumbers;
  /** Further options of the request, below its form. */
  readonly children?: ReactNode;
  /** Resolves when the call has started. Rejects if it could not start. */
  readonly onRun: (content: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** The description of a tool, a template or a prompt, and the form for its arguments. */
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
