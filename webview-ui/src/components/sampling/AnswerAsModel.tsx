import type { FieldProblem, HandWritten } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useId, useRef } from "react";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";
import { atEscape } from "../ask/atEscape.ts";
import { byField } from "../form/refusedProblems.ts";
import { TextField } from "./SamplingEditor.tsx";

/** The keys under which a draft stores the person's own completion. */
export const byHandKey = {
  /** Whether the fields are shown. */
  open: "byHand",
  text: "byHand text",
  model: "byHand model",
  stopReason: "byHand stopReason",
} as const;

/** Reports whether a draft's key belongs to the person's own completion. */
export function isOfByHand(key: string): boolean {
  return Object.values<string>(byHandKey).includes(key);
}

/** Returns the completion in a draft. */
function handWrittenOf(draft: Draft): HandWritten {
  const stopReason = typed(draft, byHandKey.stopReason, "endTurn").trim();
  return {
    text: typed(draft, byHandKey.text, ""),
    // No model's name, because the server must not take a person for a model.
    model: typed(draft, byHandKey.model, "human").trim(),
    ...(stopReason !== "" && { stopReason }),
  };
}

function typed(draft: Draft, key: string, initial: string): string {
  const value = own(draft, key);
  return typeof value === "string" ? value : initial;
}

/** Reports whether problems that the sidecar found concern the person's own completion. */
export function isOfCompletion(problems: readonly FieldProblem[] | undefined): boolean {
  const names: readonly (string | undefined)[] = ["text", "stopReason", "model"];
  return problems?.some(({ name }) => names.includes(name)) ?? false;
}

interface Answering {
  readonly busy: boolean;
  /** The person returns to the request. Their text stays in the draft. */
  readonly onClose: () => void;
}

export interface AnswerAsModelProps extends Answering {
  readonly draft: Draft;
  /** The problems that the sidecar found in the last completion. */
  readonly problems: readonly FieldProblem[] | undefined;
  readonly onInput: (key: string, value: FieldInput) => void;
}

/** The fields of a completion that the person writes in place of a model. Nothing of the request is sent. */
export function AnswerAsModel(props: AnswerAsModelProps) {
  const { draft, problems, busy, onInput, onClose } = props;
  const fields = useRef<HTMLFieldSetElement>(null);
  useEffect(() => fields.current?.querySelector("textarea")?.focus(), []);
  // Disabling a field removed the focus from it.
  useEffect(() => {
    if (problems === undefined || busy) return;
    fields.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems, busy]);
  const refused = byField(problems);
  return (
    <fieldset
      ref={fields}
      className="sampling-editor"
      disabled={busy}
      onKeyDown={atEscape(onClose)}
    >
      <legend className="visually-hidden">{l10n.t("Answer as the model")}</legend>
      <p className="muted">
        {l10n.t("No model is asked. The server gets what you write as the model's answer.")}
      </p>
      <TextField
        label={l10n.t("Completion")}
        value={typed(draft, byHandKey.text, "")}
        problem={refused["text"]}
        onInput={(value) => onInput(byHandKey.text, value)}
      />
      <WordField
        label={l10n.t("Stop reason")}
        value={typed(draft, byHandKey.stopReason, "endTurn")}
        proposed={["endTurn", "stopSequence", "maxTokens"]}
        problem={refused["stopReason"]}
        onInput={(value) => onInput(byHandKey.stopReason, value)}
      />
      <WordField
        label={l10n.t("Model's name")}
        value={typed(draft, byHandKey.model, "human")}
        problem={refused["model"]}
        onInput={(value) => onInput(byHandKey.model, value)}
      />
    </fieldset>
  );
}

interface WordFieldProps {
  readonly label: string;
  readonly value: string;
  /** The usual values. Others are allowed too. */
  readonly proposed?: readonly string[];
  readonly problem: string | undefined;
  readonly onInput: (value: string) => void;
}

function WordField({ label, value, proposed, problem, onInput }: WordFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="text"
        autoComplete="off"
        spellCheck={false}
        list={proposed && `${id}-list`}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        onChange={(event) => onInput(event.target.value)}
      />
      {proposed !== undefined && (
        <datalist id={`${id}-list`}>
          {proposed.map((word) => (
            <option key={word} value={word} />
          ))}
        </datalist>
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} className="field-problem">
          {problem}
        </p>
      )}
    </div>
  );
}

export interface AnswerActionsProps extends Answering {
  readonly draft: Draft;
  readonly ready: boolean;
  readonly onAnswer: (written: HandWritten) => void;
}

/** The buttons for the person's own completion, in place of the request's. */
export function AnswerActions({ draft, busy, ready, onAnswer, onClose }: AnswerActionsProps) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape leaves the fields from every control.
    <div className="actions" onKeyDown={atEscape(onClose)}>
      <button
        type="button"
        className="primary"
        aria-disabled={!ready}
        disabled={busy}
        onClick={() => {
          if (ready) onAnswer(handWrittenOf(draft));
        }}
      >
        {l10n.t("Return to Server")}
      </button>
      <button type="button" className="secondary" disabled={busy} onClick={onClose}>
        {l10n.t("Back")}
      </button>
    </div>
  );
}
