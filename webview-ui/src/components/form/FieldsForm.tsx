import type { CompleteParams, CompleteResult, Field, FieldProblem } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import {
  memo,
  type ReactNode,
  type Ref,
  useEffect,
  useEffectEvent,
  useId,
  useRef,
  useState,
} from "react";
import { titleOf } from "../../lib/fields.ts";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { type Draft, type FieldInput, own } from "../../view/viewState.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { useAfterPress } from "../ui/useAfterPress.ts";
import { FieldControl } from "./FieldControl.tsx";
import { initialInputs, keepable, withInput } from "./inputs.ts";
import { inWords } from "./problemText.ts";
import { type ExactNumbers, readForm } from "./readInputs.ts";
import { useCheck } from "./useCheck.ts";

/** Requests suggestions for a field, from its text and the other fields. */
export type Complete = (
  params: Pick<CompleteParams, "argumentName" | "value" | "arguments">,
  signal: AbortSignal,
) => Promise<CompleteResult>;

/** The pause after a key before an invalid field is checked again, in milliseconds. */
const typingPause = 150;

export interface FieldsFormProps {
  readonly fields: readonly Field[];
  /** The inputs from before the view was loaded. */
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft) => void;
  /** Inputs that replace those of the form, each time that they are another object. */
  readonly fill?: Draft | undefined;
  /** Nothing can be edited or submitted. */
  readonly disabled: boolean;
  /** The problems that the sidecar found in the last submitted answer. */
  readonly refused: readonly FieldProblem[] | undefined;
  /** Suggests texts for a field; undefined if there is no provider. */
  readonly complete?: Complete | undefined;
  /** How to treat a number that a double cannot hold. By default it is refused. */
  readonly exactNumbers?: ExactNumbers;
  /** Asked before a submission is checked. If it reports true, nothing is submitted. */
  readonly holds?: () => boolean;
  /** Called with an answer in which the sidecar found no problem, in the order of the fields. */
  readonly onSubmit: (content: Readonly<Record<string, unknown>>) => void;
  /** Called instead of onSubmit if the form has problems, or changed during the check. */
  readonly onNotSubmitted?: () => void;
  /** The form element, for submitting it from outside. */
  readonly ref?: Ref<HTMLFormElement>;
  /** The buttons. */
  readonly children?: ReactNode;
  /** Lays out the whole form from the problem summary and the fields. Replaces the children. */
  readonly frame?: (summary: ReactNode, controls: ReactNode) => ReactNode;
}

/**
 * A form that a server defines: an elicitation, or the arguments of a tool, a template or a prompt. The sidecar checks
 * a field when the person leaves it, and all fields when they submit. Each problem is shown at its field. After a
 * failed submission a summary lists the current problems. A single problem has no summary: its field gets the focus.
 */
export function FieldsForm(props: FieldsFormProps) {
  const {
    fields,
    draft,
    onDraft,
    fill,
    disabled,
    refused,
    complete,
    onSubmit,
    ref,
    children,
    frame,
  } = props;
  const { exactNumbers = "refused", holds, onNotSubmitted } = props;
  const [inputs, setInputs] = useState(() => initialInputs(fields, draft));
  const [problems, setProblems] = useState<readonly FieldProblem[]>([]);
  /** Counts failed submissions in a row. */
  const [failed, setFailed] = useState(0);
  const prefix = useId();
  const afterPress = useAfterPress();
  const findProblems = useCheck(exactNumbers);
  const now = useRef({ inputs, disabled });
  now.current = { inputs, disabled };
  const idOf = (field: Field) => `${prefix}-${fields.indexOf(field)}`;

  /** Counts how often all problems were shown. An older check of one field is then outdated. */
  const shownAll = useRef(0);
  const showAll = (problems: readonly FieldProblem[]) => {
    shownAll.current += 1;
    // On the wire, an empty field name and a missing one are the same.
    const unnamed = fields.some(({ name }) => name === "");
    const found = unnamed ? problems.map((it) => ({ name: "", ...it })) : problems;
    setProblems(found);
    setFailed((failed) => (found.length === 0 ? 0 : failed + 1));
  };

  const [filledWith, setFilledWith] = useState(fill);
  if (fill !== filledWith) {
    setFilledWith(fill);
    if (fill !== undefined) {
      setInputs(fill);
      showAll([]);
    }
  }
  const keep = useEffectEvent((filled: Draft) => onDraft(keepable(fields, filled)));
  useEffect(() => {
    if (fill !== undefined) keep(fill);
  }, [fill]);
  const entries = entriesOf(problems, fields, idOf);

  const [shownRefusal, setShownRefusal] = useState(refused);
  if (refused !== shownRefusal) {
    setShownRefusal(refused);
    showAll(refused?.map((problem) => inWords(problem, fields, inputs)) ?? []);
  }

  // After a failed submission, the first invalid field takes the focus.
  const first = useRef<string>(undefined);
  first.current = entries.find(({ controlId }) => controlId !== undefined)?.controlId;
  useEffect(() => {
    if (failed > 0 && first.current !== undefined) focusControl(first.current);
  }, [failed]);

  const check = async (field: Field, input: FieldInput | undefined) => {
    const before = shownAll.current;
    const found = await findProblems([field], withInput({}, field.name, input));
    // Ignores problems of an earlier input.
    if (found === undefined || own(now.current.inputs, field.name) !== input) return;
    if (shownAll.current !== before) return;
    setProblems((shown) => {
      const others = shown.filter(({ name }) => name !== field.name);
      return [...others, ...found.map((problem) => ({ ...problem, name: field.name }))];
    });
  };
  /** The pauses in the typing, by field. */
  const [typing] = useState(() => new Map<string, ReturnType<typeof setTimeout>>());
  useEffect(() => () => typing.forEach(clearTimeout), [typing]);

  // A field that became a secret leaves the draft. Reloading the same fields changes no draft, because another form of
  // the same ask may have a newer one.
  const [keptFields, setKeptFields] = useState(fields);
  useEffect(() => {
    if (keptFields === fields) return;
    setKeptFields(fields);
    const secrets = namesOfSecrets(fields);
    const before = namesOfSecrets(keptFields);
    if (secrets.size === before.size && [...secrets].every((name) => before.has(name))) return;
    onDraft(keepable(fields, inputs));
  }, [keptFields, fields, inputs, onDraft]);

  const change = (field: Field, input: FieldInput | undefined) => {
    const next = withInput(inputs, field.name, input);
    setInputs(next);
    onDraft(keepable(fields, next));
    // While the person types, only a field that is already marked as invalid is checked.
    if (!problems.some(({ name }) => name === field.name)) return;
    clearTimeout(typing.get(field.name));
    typing.set(
      field.name,
      setTimeout(() => void check(field, input), typingPause),
    );
  };

  const leave = (field: Field) => {
    const input = own(inputs, field.name);
    // Moving through an empty field with Tab is not a mistake yet.
    if (input !== undefined && input !== "") afterPress(() => void check(field, input));
  };

  const suggest = (field: Field, value: string, signal: AbortSignal) => {
    const others = filledIn(withInput(inputs, field.name, undefined));
    const params = { argumentName: field.name, value, arguments: others };
    return complete?.(params, signal) ?? Promise.resolve({});
  };

  const latest = useRef<Deeds & { readonly submit: () => void }>(undefined);
  const [deeds] = useState<Deeds>(() => ({
    change: (field, input) => latest.current?.change(field, input),
    leave: (field) => latest.current?.leave(field),
    suggest: async (field, value, signal) => latest.current?.suggest(field, value, signal) ?? {},
  }));

  const submitting = useRef(false);
  /** The inputs when the person last submitted during a check. */
  const submittedAgain = useRef<Draft>(undefined);
  const checkAndSubmit = async () => {
    const incomplete = fields.filter((field) => isIncomplete(idOf(field)));
    if (incomplete.length > 0) {
      showAll(incomplete.map(({ name }) => ({ name, message: l10n.t("Not complete") })));
      onNotSubmitted?.();
      return;
    }
    submitting.current = true;
    submittedAgain.current = undefined;
    const found = await findProblems(fields, inputs);
    submitting.current = false;
    // The person submitted the visible form.
    const stale = found === undefined || now.current.inputs !== inputs || now.current.disabled;
    if (found !== undefined && stale && submittedAgain.current === now.current.inputs) {
      latest.current?.submit();
      return;
    }
    if (!stale) showAll(found);
    if (stale || found.length > 0) onNotSubmitted?.();
    else onSubmit(readForm(fields, inputs, exactNumbers).content);
  };
  const submit = () => {
    if (submitting.current) submittedAgain.current = inputs;
    else if (disabled || holds?.()) onNotSubmitted?.();
    else void checkAndSubmit();
  };
  latest.current = { change, leave, suggest, submit };

  const problemsSummary = failed > 0 && <Summary entries={entries} keep={`problems:${prefix}`} />;
  const controls = (
    <fieldset className="fields" disabled={disabled}>
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          id={idOf(field)}
          field={field}
          input={own(inputs, field.name)}
          problem={problems.find(({ name }) => name === field.name)?.message}
          completes={complete !== undefined}
          deeds={deeds}
        />
      ))}
    </fieldset>
  );
  return (
    <form
      ref={ref}
      className={frame === undefined ? "fields-form" : "framed-form"}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {frame?.(problemsSummary, controls) ?? (
        <>
          {problemsSummary}
          {controls}
          {children}
        </>
      )}
    </form>
  );
}

function namesOfSecrets(fields: readonly Field[]): ReadonlySet<string> {
  return new Set(fields.filter(({ secret }) => secret).map(({ name }) => name));
}

/** The handlers of a form's fields. The object is the same for every render. */
interface Deeds {
  readonly change: (field: Field, input: FieldInput | undefined) => void;
  readonly leave: (field: Field) => void;
  readonly suggest: (field: Field, value: string, signal: AbortSignal) => Promise<CompleteResult>;
}

interface FieldRowProps {
  readonly id: string;
  readonly field: Field;
  readonly input: FieldInput | undefined;
  readonly problem: string | undefined;
  readonly completes: boolean;
  readonly deeds: Deeds;
}

/** A field. It renders again only when it changes, because a form may have a thousand fields. */
const FieldRow = memo(function FieldRow({ field, completes, deeds, ...drawn }: FieldRowProps) {
  return (
    <FieldControl
      {...drawn}
      field={field}
      suggest={completes ? (value, signal) => deeds.suggest(field, value, signal) : undefined}
      onInput={(input) => deeds.change(field, input)}
      onLeave={() => deeds.leave(field)}
    />
  );
});

/** The non-empty texts among the inputs. */
function filledIn(inputs: Draft): Readonly<Record<string, string>> {
  const texts = Object.entries(inputs).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "",
  );
  return Object.fromEntries(texts);
}

interface SummaryEntry {
  /** Empty if the problem concerns the whole form. */
  readonly title: string;
  readonly message: string;
  /** Undefined if the problem has no field. */
  readonly controlId?: string;
}

/** The problems in the order of their fields; those without a field come last. */
function entriesOf(
  problems: readonly FieldProblem[],
  fields: readonly Field[],
  idOf: (field: Field) => string,
): readonly SummaryEntry[] {
  const isOf = (field: Field) => (problem: FieldProblem) => problem.name === field.name;
  return [
    ...fields.flatMap((field) =>
      problems
        .filter(isOf(field))
        .map(({ message }) => ({ title: titleOf(field), message, controlId: idOf(field) })),
    ),
    ...problems
      .filter((problem) => !fields.some((field) => isOf(field)(problem)))
      .map(({ name = "", message }) => ({ title: visible(name), message })),
  ];
}

interface SummaryProps {
  readonly entries: readonly SummaryEntry[];
  /** Names it in the view's state. */
  readonly keep: string;
}

/** The number of problems, in a line that opens to their list. A single one is shown at its field, which has the focus. */
function Summary({ entries, keep }: SummaryProps) {
  const [only] = entries;
  if (only === undefined || (entries.length === 1 && only.controlId !== undefined)) return null;
  // Problems without a field are shown nowhere else.
  const whole = entries.filter(({ controlId }) => controlId === undefined);
  const atFields = entries.filter(({ controlId }) => controlId !== undefined);
  return (
    <div className="problems" role="alert">
      {whole.map(({ title, message }) => (
        <p key={`${title}: ${message}`}>{title === "" ? message : `${title}: ${message}`}</p>
      ))}
      {atFields.length > 0 && (
        <Disclosure
          {...{ keep }}
          summary={plural(
            atFields.length,
            l10n.t("1 field to correct"),
            l10n.t("{0} fields to correct"),
          )}
        >
          <ul>
            {atFields.map(({ title, message, controlId = "" }) => (
              <li key={`${title}: ${message}`}>
                <button type="button" className="link" onClick={() => focusControl(controlId)}>
                  {title}
                </button>
                {`: ${message}`}
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </div>
  );
}

function focusControl(id: string): void {
  const control = document.getElementById(id);
  const target = control instanceof HTMLFieldSetElement ? control.querySelector("input") : control;
  target?.focus();
}

/** An incomplete date reads as empty. Only the control itself knows that it is not. */
function isIncomplete(id: string): boolean {
  const control = document.getElementById(id);
  return control instanceof HTMLInputElement && control.validity.badInput;
}
