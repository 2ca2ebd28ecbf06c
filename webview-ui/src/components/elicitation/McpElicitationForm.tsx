import type { Field } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type ReactNode, useMemo, useState } from "react";
import { titleOf } from "../../lib/fields.ts";
import { filled } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import type { Draft } from "../../view/viewState.ts";
import { AcceptButton } from "../ask/AcceptButton.tsx";
import { AskCard } from "../ask/AskCard.tsx";
import { AskMessage } from "../ask/AskMessage.tsx";
import { DeclineButton } from "../ask/DeclineButton.tsx";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { useReading } from "../ask/useReading.ts";
import { Ticks } from "../form/ChoiceControls.tsx";
import { FieldsForm } from "../form/FieldsForm.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { asksYesOrNo, type FormProps, YesNoForm } from "./YesNoForm.tsx";

/** An app that the server offers for its form. */
export interface FormFace {
  /** The app is shown, and the plain form is not. */
  readonly shown: boolean;
  /** Names what the card shows now. Its buttons are disabled for a moment after each change. */
  readonly phase: string;
  /** The app. It is drawn while the plain form is shown too, and keeps its state. */
  readonly app: ReactNode;
  /** Drawn above the plain form. */
  readonly line: ReactNode;
  /** Inputs that replace those of the form, each time that they are another object. */
  readonly fill: Draft | undefined;
  /** The person wants the plain form. */
  readonly onPlain: () => void;
}

export interface McpElicitationFormProps extends FormProps {
  /** Undefined if the form has no app. */
  readonly face?: FormFace | undefined;
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft) => void;
}

/** A server's form that waits for an answer. */
export function McpElicitationForm(props: McpElicitationFormProps) {
  const { face, request } = props;
  return face === undefined && asksYesOrNo(request.fields ?? noFields) ? (
    <YesNoForm {...props} />
  ) : (
    <FieldForm {...props} />
  );
}

function FieldForm(props: McpElicitationFormProps) {
  const { askId, serverName, toolNames, resourceUri, request, busy, refusal, problems } = props;
  const { draft, onDraft, onAccept, onDecline, onDeclineAll, onCancel, face } = props;
  const reading = useReading(face?.phase);
  const still = useClickGuard(face?.phase, reading.state);
  const ready = still && !busy;
  const appShown = face?.shown === true;
  const asked = request.fields ?? noFields;
  const secrets = asked.filter(({ secret }) => secret);
  const [marked, setMarked] = useState<readonly string[]>([]);
  const fields = useMemo(
    () => asked.map((field) => (marked.includes(field.name) ? { ...field, secret: true } : field)),
    [asked, marked],
  );
  return (
    <FieldsForm
      fields={fields}
      draft={draft}
      onDraft={onDraft}
      fill={face?.fill}
      disabled={busy || appShown}
      refused={problems}
      exactNumbers="asText"
      holds={reading.holds}
      onSubmit={(content) => {
        if (!ready) return;
        if (marked.length === 0) onAccept(content);
        else onAccept(content, marked);
      }}
      frame={(summary, controls) => (
        <AskCard
          {...{ askId, serverName, toolNames, resourceUri, reading, busy }}
          icon="question"
          does={l10n.t("{0} asks")}
          asks={request.message}
          problems={
            <>
              {summary}
              {refusal !== undefined && <Refusal message={refusal} />}
            </>
          }
          actions={
            <>
              {/* The keys keep the one from becoming the other under a press, which would then submit. */}
              {appShown ? (
                <button key="plain" type="button" className="secondary" onClick={face.onPlain}>
                  {l10n.t("Use the Plain Form")}
                </button>
              ) : (
                <AcceptButton
                  key="submit"
                  label={l10n.t("Submit")}
                  {...{ reading, ready }}
                  submits
                />
              )}
              <DeclineButton {...{ serverName, ready, onDecline, onCancel, onDeclineAll }} />
            </>
          }
          below={
            !appShown && (
              <MarkSecrets
                {...{ askId, marked }}
                fields={asked}
                disabled={busy}
                onMark={setMarked}
              />
            )
          }
        >
          <AskMessage {...{ askId, serverName }} text={request.message} headed />
          {face !== undefined && <div hidden={!appShown}>{face.app}</div>}
          <div
            className="plain-form"
            hidden={appShown}
            // An app chooses when its form comes here: no press at that moment was meant for a field.
            style={face === undefined || still ? undefined : { pointerEvents: "none" }}
          >
            {face?.line}
            {secrets.length > 0 && (
              <p role="note" aria-label={l10n.t("Warning")} className="secret-warning">
                {filled(
                  secrets.length === 1
                    ? l10n.t(
                        "{0} looks like a secret. MCP forbids servers to ask for one in a form. What you type there goes to {1}. Drafts and the conversation do not store it.",
                      )
                    : l10n.t(
                        "{0} look like secrets. MCP forbids servers to ask for one in a form. What you type there goes to {1}. Drafts and the conversation do not store it.",
                      ),
                  <strong>{secrets.map(titleOf).join(", ")}</strong>,
                  visible(serverName),
                )}
              </p>
            )}
            {controls}
          </div>
        </AskCard>
      )}
    />
  );
}

/** Lets the person mark answers as secret that Assent did not recognise. */
function MarkSecrets(props: {
  readonly askId: string;
  readonly fields: readonly Field[];
  readonly marked: readonly string[];
  readonly disabled: boolean;
  readonly onMark: (marked: readonly string[]) => void;
}) {
  const { askId, fields, marked, disabled, onMark } = props;
  const typed = fields.filter(
    ({ type, secret }) => secret !== true && (type === "string" || type === "number"),
  );
  if (typed.length === 0) return null;
  const options = typed.map((field) => ({
    value: field.name,
    title: l10n.t("{0} is a secret", titleOf(field)),
  }));
  return (
    <Disclosure keep={`${askId}:marks`} summary={l10n.t("Mark answers as secret")}>
      <fieldset className="fields" disabled={disabled}>
        <p className="muted">
          {l10n.t("It is sent to the server. Drafts and the conversation do not store it.")}
        </p>
        <Ticks field={{ type: "choices", name: "", options }} chosen={marked} onInput={onMark} />
      </fieldset>
    </Disclosure>
  );
}

const noFields = [] as const;
