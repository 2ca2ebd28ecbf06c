import type { JSONField, ListField, NumberField, StringField } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import type { ChangeEvent, KeyboardEvent } from "react";
import { titleOf } from "../../lib/fields.ts";
import { unreachable } from "../../lib/unreachable.ts";
import type { SharedProps } from "./controlProps.ts";
import { fromLocalInput, toLocalInput } from "./dates.ts";
import { SecretInput } from "./SecretInput.tsx";

export interface TextControlProps {
  readonly field: StringField | NumberField | JSONField | ListField;
  readonly input: string;
  readonly shared: SharedProps;
  readonly onInput: (input: string) => void;
}

/** The control of a text field. */
export function TextControl({ field, input, shared, onInput }: TextControlProps) {
  const typed = {
    ...shared,
    autoComplete: "off",
    spellCheck: false,
    value: input,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onInput(event.target.value),
  };
  if (field.secret) return <SecretInput {...typed} title={titleOf(field)} />;
  switch (field.type) {
    case "json":
      return <textarea {...typed} className="code" rows={3} />;
    case "list":
      return <textarea {...typed} rows={3} />;
    case "number":
      // Not type="number", which uses the locale's format and reports invalid input as empty.
      return <input {...typed} type="text" inputMode={field.integer ? "numeric" : "decimal"} />;
    case "string":
      break;
    default:
      return unreachable(field);
  }
  switch (field.format) {
    // Not type="email" or type="url", which change the typed text.
    case "email":
      return <input {...typed} type="text" inputMode="email" />;
    case "uri":
      return <input {...typed} type="text" inputMode="url" />;
    case "date":
      return <input {...typed} type="date" />;
    case "date-time":
      return (
        <>
          <input
            {...typed}
            type="datetime-local"
            step="any"
            value={toLocalInput(input)}
            onChange={(event) => onInput(fromLocalInput(event.target.value))}
          />
          {input !== "" && <span className="field-sent">{l10n.t("Sent as {0}", input)}</span>}
        </>
      );
    default: // none, or a server's own format
      return <textarea {...typed} spellCheck rows={1} onKeyDown={submitOnEnter} />;
  }
}

/**
 * A text may have several lines, so its control is a textarea. It submits on Enter like an input, and Shift+Enter
 * starts a line. Enter that ends an input method's composition does neither.
 */
export function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
