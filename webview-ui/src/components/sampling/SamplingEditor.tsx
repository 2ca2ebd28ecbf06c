import type { McpSamplingRequest, SamplingMessage, SecretFinding } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type KeyboardEvent, useId } from "react";
import type { Draft, FieldInput } from "../../view/viewState.ts";
import { ContentBlocks, type ToolCalls, Verbatim } from "../content/ContentBlocks.tsx";
import { useHasSecret } from "../content/Marked.tsx";
import { HiddenNote, hides } from "../form/HiddenNote.tsx";
import { NumberField } from "../ui/NumberField.tsx";
import { callsOf, SamplingLimits } from "./SamplingDetails.tsx";
import { SamplingTools } from "./SamplingTools.tsx";
import { type DraftProblems, draftKey, readDraft, type SamplingDraft } from "./samplingDraft.ts";

export interface SamplingEditorProps {
  readonly request: McpSamplingRequest;
  readonly draft: Draft;
  readonly secrets: readonly SecretFinding[];
  readonly problems: DraftProblems;
  readonly disabled: boolean;
  readonly onInput: (key: string, value: FieldInput) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly keep: string;
}

/** The editor of a sampling request before it goes to a model. */
export function SamplingEditor(props: SamplingEditorProps) {
  const { request, draft, secrets, problems, disabled, onInput, onKeyDown, keep } = props;
  const typed = readDraft(request, draft, secrets);
  const { messages = [] } = request;
  const calls = callsOf(messages);
  return (
    <fieldset className="sampling-editor" disabled={disabled} onKeyDown={onKeyDown}>
      <legend className="visually-hidden">{l10n.t("Request to the model")}</legend>
      <TextField
        label={l10n.t("System prompt")}
        value={typed.systemPrompt}
        onInput={(value) => onInput(draftKey.systemPrompt, value)}
      />
      {messages.map((message, index) => (
        <MessageEditor
          // biome-ignore lint/suspicious/noArrayIndexKey: a turn has no name but its place.
          key={index}
          {...{ message, index, typed, calls, onInput, keep }}
          alone={messages.length === 1}
        />
      ))}
      {problems.messages !== undefined && (
        <p role="alert" className="field-problem">
          {problems.messages}
        </p>
      )}
      <NumberField
        label={l10n.t("Maximum tokens")}
        inputMode="numeric"
        value={typed.maxTokens}
        problem={problems.maxTokens}
        onInput={(value) => onInput(draftKey.maxTokens, value)}
      />
      <NumberField
        label={l10n.t("Temperature")}
        inputMode="decimal"
        value={typed.temperature}
        problem={problems.temperature}
        onInput={(value) => onInput(draftKey.temperature, value)}
      />
      <SamplingTools {...{ request, keep }} texts="plain" />
      <SamplingLimits request={request} edited />
    </fieldset>
  );
}

interface MessageEditorProps {
  readonly message: SamplingMessage;
  readonly index: number;
  readonly typed: SamplingDraft;
  readonly calls: ToolCalls;
  readonly alone: boolean;
  readonly onInput: (key: string, value: FieldInput) => void;
  readonly keep: string;
}

function MessageEditor(props: MessageEditorProps) {
  const { message, index, typed, calls, alone, onInput, keep } = props;
  const { role, content = [] } = message;
  const name =
    role === "user"
      ? l10n.t("User, message {0}", index + 1)
      : l10n.t("Assistant, message {0}", index + 1);
  const isLeftOut = typed.isLeftOut(index);
  return (
    <div className="turn">
      {!isLeftOut &&
        content.map((block, place) =>
          block.type === "text" ? (
            <TextField
              // biome-ignore lint/suspicious/noArrayIndexKey: a block has no name but its place.
              key={place}
              label={content.length === 1 ? name : l10n.t("{0}, part {1}", name, place + 1)}
              value={typed.text(index, place) ?? block.text}
              onInput={(value) => onInput(draftKey.text(index, place), value)}
            />
          ) : (
            <ContentBlocks
              // biome-ignore lint/suspicious/noArrayIndexKey: a block has no name but its place.
              key={place}
              blocks={[typed.redacted(block)]}
              texts="plain"
              calls={calls}
              keep={`${keep}:edit${index}:${place}`}
            />
          ),
        )}
      {!alone && (
        <label className="tick">
          <input
            type="checkbox"
            checked={isLeftOut}
            onChange={(event) => onInput(draftKey.leftOut(index), event.target.checked)}
          />
          {l10n.t("Leave out {0}", name)}
        </label>
      )}
    </div>
  );
}

export interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  /** The metadata is for programs. */
  readonly code?: boolean;
  readonly problem?: string | undefined;
  readonly disabled?: boolean;
  readonly onInput: (value: string) => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

/** A text of several lines, in which Enter starts a line. */
export function TextField(props: TextFieldProps) {
  const { label, value, code = false, problem, disabled = false, onInput, onKeyDown } = props;
  const hasSecret = useHasSecret(value);
  const id = useId();
  const describing = [
    ...(problem === undefined ? [] : [`${id}-problem`]),
    ...(hides(value) && !hasSecret ? [`${id}-hidden`] : []),
  ];
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className={code ? "code" : undefined}
        rows={2}
        value={value}
        disabled={disabled}
        spellCheck={!code}
        aria-invalid={problem !== undefined}
        aria-describedby={describing.length === 0 ? undefined : describing.join(" ")}
        onChange={(event) => onInput(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {problem !== undefined && (
        <p id={`${id}-problem`} className="field-problem">
          {problem}
        </p>
      )}
      {/* A control cannot mark a part of its text. */}
      {hasSecret ? <Verbatim text={value} /> : <HiddenNote id={`${id}-hidden`} text={value} />}
    </div>
  );
}
