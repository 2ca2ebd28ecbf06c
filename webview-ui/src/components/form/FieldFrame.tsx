import type { Field } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import type { FocusEvent, ReactNode } from "react";
import { fullTitleOf, titleOf } from "../../lib/fields.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import { LongText } from "./LongText.tsx";

export interface FieldFrameProps {
  /** The id of the control or of its group. Other ids derive from it. */
  readonly id: string;
  readonly field: Field;
  readonly problem: string | undefined;
  readonly children: ReactNode;
}

export interface GroupFrameProps extends FieldFrameProps {
  readonly role: "group" | "radiogroup";
  readonly onLeave: () => void;
}

/** A field with one control, named by a label. */
export function LabelledFrame(props: FieldFrameProps) {
  const { id, field, children } = props;
  return (
    <div className="field">
      <label htmlFor={id}>
        <Title field={field} />
      </label>
      <Description {...props} />
      {children}
      <Problem {...props} />
    </div>
  );
}

/** A field with several controls, named by a legend. */
export function GroupFrame(props: GroupFrameProps) {
  const { id, field, problem, role, onLeave, children } = props;
  const leave = (event: FocusEvent<HTMLElement>) => {
    if (!event.currentTarget.contains(event.relatedTarget)) onLeave();
  };
  return (
    <fieldset
      id={id}
      className="field"
      role={role}
      aria-describedby={describedBy(id, field, problem)}
      {...(role === "radiogroup" && {
        "aria-required": field.required ?? false,
        "aria-invalid": problem !== undefined,
      })}
      onBlur={leave}
    >
      <legend>
        <Title field={field} />
      </legend>
      <Description {...props} />
      {children}
      <Problem {...props} />
    </fieldset>
  );
}

/** A field with one checkbox, which stands before its name. */
export function TickFrame(props: FieldFrameProps) {
  const { id, field, children } = props;
  return (
    <div className="field tick-field">
      <label className="tick" htmlFor={id}>
        {children}
        <Title field={field} />
      </label>
      <Description {...props} />
      <Problem {...props} />
    </div>
  );
}

/** The ids of a control's descriptions: first the problem, then the notes. */
export function describedBy(
  id: string,
  field: Field,
  problem: string | undefined,
): string | undefined {
  const ids = [
    ...(problem === undefined ? [] : [problemId(id)]),
    ...(notesOf(field).length === 0 ? [] : [descriptionId(id)]),
  ];
  return ids.length === 0 ? undefined : ids.join(" ");
}

// The star is only visual, because the control itself says that it is required. A checkbox cannot be forgotten, so it
// has none.
function Title({ field }: { readonly field: Field }) {
  const starred = field.required === true && field.type !== "boolean";
  return (
    <span className="field-title">
      {titleOf(field)}
      {starred && (
        <span className="required" aria-hidden="true">
          {" *"}
        </span>
      )}
    </span>
  );
}

function Description({ id, field }: FieldFrameProps) {
  const notes = notesOf(field);
  if (notes.length === 0) return null;
  return (
    <div id={descriptionId(id)} className="field-description">
      {notes.map((note) => (
        <LongText key={note} text={note} />
      ))}
    </div>
  );
}

function Problem({ id, problem }: FieldFrameProps) {
  if (problem === undefined) return null;
  return (
    <p id={problemId(id)} className="field-problem">
      {problem}
    </p>
  );
}

function notesOf(field: Field): readonly string[] {
  const title = fullTitleOf(field);
  return [
    visible(title) === titleOf(field) ? "" : title, // too long for a title
    field.description ?? "",
    boundsOf(field) ?? "",
    field.secret
      ? l10n.t("MCP forbids servers to ask for a secret in a form. Decline unless you are sure.")
      : "",
  ].filter((note) => note !== "");
}

/** The field's rules, for the person to read before answering. */
function boundsOf(field: Field): string | undefined {
  switch (field.type) {
    case "number":
      return range(field.minimum, field.maximum, (n) => String(n));
    case "choices":
      return range(field.minItems, field.maxItems, (n) => l10n.t("{0} of these", n));
    case "list": {
      const bounds = range(field.minItems, field.maxItems, (n) => l10n.t("{0} of these", n));
      const lines = l10n.t("Enter each item on a line of its own.");
      return bounds === undefined ? lines : `${lines} ${bounds}`;
    }
    case "json":
      return l10n.t("Enter JSON.");
    case "string": {
      const { pattern = "", patternUnchecked = false, description = "" } = field;
      if (!patternUnchecked) return undefined;
      return description === ""
        ? l10n.t("The server expects {0}, which Assent cannot check.", pattern)
        : l10n.t("Only the server can check the format.");
    }
    case "boolean":
    case "choice":
      return undefined;
    default:
      return unreachable(field);
  }
}

function range(
  least: number | undefined,
  most: number | undefined,
  name: (n: number) => string,
): string | undefined {
  if (least !== undefined && most !== undefined) {
    return l10n.t("From {0} to {1}.", least, name(most));
  }
  if (least !== undefined) return l10n.t("At least {0}.", name(least));
  if (most !== undefined) return l10n.t("At most {0}.", name(most));
  return undefined;
}

function descriptionId(id: string): string {
  return `${id}-description`;
}

function problemId(id: string): string {
  return `${id}-problem`;
}
