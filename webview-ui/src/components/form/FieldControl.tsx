import type { Field } from "@assent/protocol";
import { unreachable } from "../../lib/unreachable.ts";
import type { FieldInput } from "../../view/viewState.ts";
import { ChoiceCombobox } from "./ChoiceCombobox.tsx";
import { ChoiceSelect, Radios, Ticks } from "./ChoiceControls.tsx";
import type { SharedProps } from "./controlProps.ts";
import { describedBy, GroupFrame, LabelledFrame, TickFrame } from "./FieldFrame.tsx";
import { HiddenNote, hides } from "./HiddenNote.tsx";
import { type Suggest, SuggestControl } from "./SuggestControl.tsx";
import { TextControl } from "./TextControl.tsx";

export interface FieldControlProps {
  readonly id: string;
  readonly field: Field;
  /** Undefined while the field was never touched and has no default. */
  readonly input: FieldInput | undefined;
  readonly problem: string | undefined;
  /** Suggests texts; undefined if there is no provider. */
  readonly suggest?: Suggest | undefined;
  /** Without a value, the person removed their answer. */
  readonly onInput: (input: FieldInput | undefined) => void;
  /** The person left the field. */
  readonly onLeave: () => void;
}

/** Up to this many options are shown at once. More are in a list. */
const maxRadios = 4;

/** Up to this many options are in a native list. Of more, typing finds one. */
const maxSelect = 100;

/** One field of a form: a native control with its name, description and problem. */
export function FieldControl(props: FieldControlProps) {
  const { id, field, input, problem, suggest, onInput, onLeave } = props;
  const frame = { id, field, problem };
  const hiddenId = `${id}-hidden`;
  const text = field.secret === true ? "" : textOf(input);
  const shared: SharedProps = {
    id,
    name: field.name,
    "aria-describedby": hides(text)
      ? [describedBy(id, field, problem), hiddenId].filter((it) => it !== undefined).join(" ")
      : describedBy(id, field, problem),
    "aria-invalid": problem !== undefined,
    "aria-required": field.required ?? false,
    onBlur: onLeave,
  };
  switch (field.type) {
    case "string":
    case "number":
    case "json":
    case "list":
      return (
        <LabelledFrame {...frame}>
          {suggest !== undefined && field.type === "string" && field.secret !== true ? (
            <SuggestControl {...{ shared, suggest, onInput }} input={textOf(input)} />
          ) : (
            <TextControl {...{ field, shared, onInput }} input={textOf(input)} />
          )}
          <HiddenNote id={hiddenId} text={text} />
        </LabelledFrame>
      );
    case "boolean": {
      // In ARIA, "required" demands the tick itself. Here an empty checkbox is an answer too.
      const { "aria-required": _asks, ...tick } = shared;
      return (
        <TickFrame {...frame}>
          <input
            {...tick}
            type="checkbox"
            checked={input === true}
            onChange={(event) => onInput(event.target.checked)}
          />
        </TickFrame>
      );
    }
    case "choice": {
      const chosen = typeof input === "string" ? input : undefined;
      const { length = 0 } = field.options ?? [];
      return length > maxRadios ? (
        <LabelledFrame {...frame}>
          {length > maxSelect ? (
            <ChoiceCombobox {...{ field, chosen, shared, onInput }} />
          ) : (
            <ChoiceSelect {...{ field, chosen, shared, onInput }} />
          )}
        </LabelledFrame>
      ) : (
        <GroupFrame {...frame} role="radiogroup" onLeave={onLeave}>
          <Radios {...{ field, chosen, onInput }} group={id} />
        </GroupFrame>
      );
    }
    case "choices":
      return (
        <GroupFrame {...frame} role="group" onLeave={onLeave}>
          <Ticks {...{ field, onInput }} chosen={Array.isArray(input) ? input : []} />
        </GroupFrame>
      );
    default:
      return unreachable(field);
  }
}

function textOf(input: FieldInput | undefined): string {
  return typeof input === "string" ? input : "";
}
