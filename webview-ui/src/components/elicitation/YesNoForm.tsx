import type { BooleanField, Field, FieldProblem, McpElicitationRequest } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { titleOf } from "../../lib/fields.ts";
import { acceptKeys } from "../../lib/keys.ts";
import { AcceptButton, pressedBy } from "../ask/AcceptButton.tsx";
import { AskCard } from "../ask/AskCard.tsx";
import { AskMessage } from "../ask/AskMessage.tsx";
import { DeclineButton } from "../ask/DeclineButton.tsx";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { useReading } from "../ask/useReading.ts";
import { LongText } from "../form/LongText.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { SplitButton } from "../ui/SplitButton.tsx";

/** What each form of a server's gets. */
export interface FormProps {
  readonly askId: string;
  readonly serverName: string;
  readonly toolNames: readonly string[];
  readonly resourceUri?: string | undefined;
  readonly request: McpElicitationRequest;
  /** An answer is being sent. No second one is possible until it is confirmed or refused. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The problems that the sidecar found in the fields. */
  readonly problems: readonly FieldProblem[] | undefined;
  /** The person submitted the form, and marked some of its fields as secret. */
  readonly onAccept: (
    content: Readonly<Record<string, unknown>>,
    secretFields?: readonly string[],
  ) => void;
  /** The person declined. */
  readonly onDecline: () => void;
  /** The person declined this and all later requests of the server. */
  readonly onDeclineAll: () => void;
  /** The person dismissed the form. */
  readonly onCancel: () => void;
}

/** Reports whether a form asks for a yes or a no: it has no fields, or only a boolean that is required. */
export function asksYesOrNo(fields: readonly Field[]): boolean {
  const [only, ...others] = fields;
  if (only === undefined) return true;
  return others.length === 0 && yesNoField(only) !== undefined;
}

function yesNoField(field: Field | undefined): BooleanField | undefined {
  return field?.type === "boolean" && field.required === true && field.secret !== true
    ? field
    : undefined;
}

/**
 * A form that asks for a yes or a no. Without a field, no declines it. With one, both answer it: the server gets true or
 * false, and to decline is a third button.
 */
export function YesNoForm(props: FormProps) {
  const { askId, serverName, toolNames, resourceUri, request, busy, refusal, problems } = props;
  const { onAccept, onDecline, onDeclineAll, onCancel } = props;
  const reading = useReading();
  const ready = useClickGuard("asked", reading.state) && !busy;
  const fieldId = useId();
  const field = yesNoField(request.fields?.[0]);
  const describedBy = field === undefined ? undefined : fieldId;
  const answer = (value: boolean) => onAccept(field === undefined ? {} : { [field.name]: value });
  // What the server fills in is what the keys answer.
  const noFirst = field?.default === false;
  const keys = acceptKeys();
  const decline = { serverName, ready, busy, onDecline, onCancel, onDeclineAll };
  return (
    <AskCard
      {...{ askId, serverName, toolNames, resourceUri, reading, busy }}
      icon="question"
      does={l10n.t("{0} asks")}
      asks={request.message}
      problems={
        <>
          {problems?.map(({ message }) => (
            <Refusal key={message} message={message} />
          ))}
          {refusal !== undefined && <Refusal message={refusal} />}
        </>
      }
      actions={
        <>
          <AcceptButton
            label={l10n.t("Yes")}
            isSecond={noFirst}
            {...{ reading, ready, busy, describedBy }}
            onClick={() => answer(true)}
          />
          {field === undefined ? (
            <DeclineButton label={l10n.t("No")} {...decline} />
          ) : (
            <>
              <SplitButton
                kind={noFirst ? "primary" : "secondary"}
                label={l10n.t("No")}
                moreLabel=""
                {...(noFirst && { keys: keys.short, title: pressedBy(l10n.t("No"), keys) })}
                {...{ ready, busy, describedBy }}
                onClick={() => answer(false)}
                entries={[]}
              />
              <DeclineButton {...decline} />
            </>
          )}
        </>
      }
    >
      <AskMessage {...{ askId, serverName }} text={request.message} headed />
      {field !== undefined && (
        <div id={fieldId} className="yes-no">
          <p className="field-title">{titleOf(field)}</p>
          {field.description !== undefined && field.description !== "" && (
            <div className="field-description">
              <LongText text={field.description} />
            </div>
          )}
        </div>
      )}
    </AskCard>
  );
}
