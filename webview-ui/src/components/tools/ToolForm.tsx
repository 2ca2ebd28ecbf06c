import type { Tool } from "@assent/protocol";
import { useRef, useState } from "react";
import { messageOf } from "../../session.ts";
import { Markdown } from "../chat/Markdown.tsx";
import { FieldsForm } from "../form/FieldsForm.tsx";
import { refusedProblems } from "../form/refusedProblems.ts";
import { Refusal } from "../ui/Refusal.tsx";
import { useView } from "../ViewContext.ts";

export interface ToolFormProps {
  readonly serverName: string;
  readonly tool: Tool;
  /** No tool can be run now. */
  readonly disabled: boolean;
  /** Resolves when the call has begun; rejects where it could not. */
  readonly onRun: (content: Readonly<Record<string, unknown>>) => Promise<void>;
}

/** A tool's description and the form of its arguments. */
export function ToolForm({ serverName, tool, disabled, onRun }: ToolFormProps) {
  const view = useView();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<unknown>();
  // Two submissions may come before the first one is drawn.
  const locked = useRef(false);
  const draftKey = `tool:${JSON.stringify([serverName, tool.name])}`;
  const problems = refusedProblems(refusal);

  const run = async (content: Readonly<Record<string, unknown>>) => {
    if (locked.current) return;
    locked.current = true;
    setBusy(true);
    setRefusal(undefined);
    try {
      await onRun(content);
    } catch (error) {
      setRefusal(error);
    } finally {
      locked.current = false;
      setBusy(false);
    }
  };

  return (
    <>
      {tool.description !== undefined && tool.description !== "" && (
        <Markdown text={tool.description} />
      )}
      <FieldsForm
        fields={tool.fields ?? noFields}
        draft={view.draft(draftKey)}
        onDraft={(draft) => view.setDraft(draftKey, draft)}
        disabled={disabled || busy}
        refused={problems}
        onSubmit={(content) => void run(content)}
      >
        {refusal !== undefined && problems === undefined && (
          <Refusal message={messageOf(refusal)} />
        )}
        <div className="actions">
          <button type="submit" className="primary" disabled={disabled || busy}>
            Run
          </button>
        </div>
      </FieldsForm>
    </>
  );
}

const noFields = [] as const;
