import type { AccessMcpResource, UseMcpTool } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type RefObject, useEffect, useId, useRef, useState } from "react";
import { shownArguments } from "../../lib/exactJSON.ts";
import { visible } from "../../lib/visible.ts";
import { type Draft, parseDraft } from "../../view/viewState.ts";
import { Verbatim } from "../content/ContentBlocks.tsx";
import { argumentsOf, inputsOf } from "../form/argumentInputs.ts";
import { FieldsForm } from "../form/FieldsForm.tsx";
import { HiddenNote, hides } from "../form/HiddenNote.tsx";
import { Clamp } from "../ui/Clamp.tsx";
import { Icon } from "../ui/Icon.tsx";

/** Edited arguments: in the fields of the tool's form, or as JSON. */
export type Edited =
  | { readonly as: "json"; readonly text: string }
  | { readonly as: "fields"; readonly inputs: Draft };

export interface ArgumentsProps {
  readonly askId: string;
  readonly question: UseMcpTool;
  readonly busy: boolean;
  /** Undefined if the person changed nothing. */
  readonly edited: Edited | undefined;
  /** The problem in the JSON. */
  readonly problem: string | undefined;
  readonly form: RefObject<HTMLFormElement | null>;
  readonly onEdit: (edited: Edited | undefined) => void;
  readonly onCheck: (text: string) => void;
  /** The form was submitted with these arguments. */
  readonly onSubmit: (text: string) => void;
  /** The form was not submitted: it has problems, or changed during the check. */
  readonly onNotSubmitted: () => void;
}

/** The arguments of the tool call, which the person can edit. */
export function Arguments(props: ArgumentsProps) {
  const { askId, question, busy, edited, problem, form } = props;
  const { onEdit, onCheck, onSubmit, onNotSubmitted } = props;
  const headingId = useId();
  const written = writtenOf(question);
  const fields = question.tool.fields ?? noFields;
  // The inputs that the form started with. A new form starts with others.
  const [began, setBegan] = useState(edited?.as === "fields" ? edited.inputs : undefined);
  const hasNone = written.trim() === "{}";
  const listed = listedArguments(question);
  const asText = edited?.as === "json" ? edited.text : written;
  const inputs = edited?.as === "fields" ? undefined : inputsOf(fields, asText);
  const edit = (next: Edited | undefined) => {
    setBegan(next?.as === "fields" ? next.inputs : undefined);
    onEdit(next);
  };
  const editButton = useRef<HTMLButtonElement>(null);
  const as = edited?.as;
  const asBefore = useRef(as);
  // The pressed button has been removed.
  useEffect(() => {
    if (as === asBefore.current) return;
    asBefore.current = as;
    if (as === undefined) editButton.current?.focus();
    if (as === "fields")
      form.current?.querySelector<HTMLElement>("input, textarea, select")?.focus();
  }, [as, form]);
  return (
    <div className="approval-arguments">
      <div className="approval-arguments-head">
        <h3 id={headingId}>{l10n.t("Arguments")}</h3>
        {question.hostName !== undefined ? null : edited === undefined ? (
          <button
            ref={editButton}
            type="button"
            className="link"
            onClick={() =>
              edit(inputs === undefined ? { as: "json", text: written } : { as: "fields", inputs })
            }
          >
            {l10n.t("Edit")}
          </button>
        ) : (
          <>
            {edited.as === "fields" && (
              <button
                type="button"
                className="link"
                onClick={() =>
                  edit({ as: "json", text: argumentsOf(fields, written, edited.inputs) })
                }
              >
                {l10n.t("Edit as JSON")}
              </button>
            )}
            {edited.as === "json" && inputs !== undefined && (
              <button type="button" className="link" onClick={() => edit({ as: "fields", inputs })}>
                {l10n.t("Edit in Fields")}
              </button>
            )}
            <button type="button" className="link" onClick={() => edit(undefined)}>
              {l10n.t("Discard Edits")}
            </button>
          </>
        )}
      </div>
      {edited === undefined && hasNone && <p className="muted">{l10n.t("No arguments")}</p>}
      {edited === undefined && !hasNone && (
        <Clamp keep={`arguments:${askId}`} text={written}>
          {listed === undefined ? <Verbatim text={written} /> : <ArgumentList entries={listed} />}
        </Clamp>
      )}
      {edited?.as === "fields" && (
        <FieldsForm
          ref={(element) => {
            form.current = element;
          }}
          fields={fields}
          draft={began}
          onDraft={(inputs) => onEdit({ as: "fields", inputs })}
          disabled={busy}
          refused={undefined}
          exactNumbers="exact"
          onSubmit={() => onSubmit(argumentsOf(fields, written, edited.inputs))}
          onNotSubmitted={onNotSubmitted}
        />
      )}
      {edited?.as === "json" && (
        <JSONEditor
          {...{ headingId, busy, problem, onCheck }}
          text={edited.text}
          onText={(text) => onEdit({ as: "json", text })}
        />
      )}
    </div>
  );
}

const noFields = [] as const;

interface ListedArgument {
  readonly title: string;
  readonly value: string;
}

/** Returns the arguments one by one; undefined if one is nested, or a double cannot hold its number. */
function listedArguments(question: UseMcpTool): readonly ListedArgument[] | undefined {
  const { arguments: args, argumentsText, tool } = question;
  if (argumentsText !== undefined || typeof args !== "object" || args === null) return undefined;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(args);
  if (entries.some(([, value]) => typeof value === "object")) return undefined;
  return entries.map(([name, value]) => {
    const field = tool.fields?.find((field) => field.name === name);
    // As JSON, so that the text "1" and the number 1 look different.
    return { title: field?.title ?? name, value: JSON.stringify(value) };
  });
}

function ArgumentList({ entries }: { readonly entries: readonly ListedArgument[] }) {
  return (
    <dl className="values">
      {entries.map(({ title, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two fields may have the same title.
        <div key={index}>
          <dt className="name">{visible(title)}</dt>
          <dd>{visible(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

interface JSONEditorProps {
  readonly headingId: string;
  readonly text: string;
  readonly busy: boolean;
  readonly problem: string | undefined;
  readonly onText: (text: string) => void;
  readonly onCheck: (text: string) => void;
}

function JSONEditor({ headingId, text, busy, problem, onText, onCheck }: JSONEditorProps) {
  const id = useId();
  const describing = [
    ...(problem === undefined ? [] : [`${id}-problem`]),
    ...(hides(text) ? [`${id}-hidden`] : []),
  ];
  return (
    <>
      <textarea
        className="code"
        aria-labelledby={headingId}
        aria-invalid={problem !== undefined}
        aria-describedby={describing.length === 0 ? undefined : describing.join(" ")}
        readOnly={busy}
        value={text}
        ref={takeFocus}
        onChange={({ target }) => onText(target.value)}
        onBlur={() => onCheck(text)}
      />
      {problem !== undefined && (
        <p id={`${id}-problem`} role="alert" className="refusal">
          <Icon name="error" />
          <span>{visible(problem)}</span>
        </p>
      )}
      <HiddenNote id={`${id}-hidden`} text={text} />
    </>
  );
}

function takeFocus(element: HTMLTextAreaElement | null): void {
  element?.focus({ preventScroll: true });
}

/** The arguments that the model wrote, with all digits of their numbers. */
export function writtenOf(question: UseMcpTool | AccessMcpResource): string {
  if (question.type !== "use_mcp_tool") return "";
  const { argumentsText, arguments: args } = question;
  return shownArguments(args, argumentsText);
}

/** Returns the draft of an edit that is not sent. */
export function draftOf(edited: Edited | undefined): Draft {
  switch (edited?.as) {
    case undefined:
      return {};
    case "json":
      return { arguments: edited.text };
    case "fields":
      return { fields: JSON.stringify(edited.inputs) };
  }
}

/** An edit that an earlier page stored. */
export function editedBefore(
  question: UseMcpTool | AccessMcpResource,
  draft: Draft | undefined,
): Edited | undefined {
  if (question.type !== "use_mcp_tool") return undefined;
  const { arguments: text, fields } = draft ?? {};
  if (typeof text === "string") return { as: "json", text };
  // The form may be gone or replaced.
  const fits = inputsOf(question.tool.fields ?? noFields, writtenOf(question)) !== undefined;
  if (!fits || typeof fields !== "string") return undefined;
  try {
    const inputs = parseDraft(JSON.parse(fields));
    return inputs && { as: "fields", inputs };
  } catch {
    return undefined;
  }
}
