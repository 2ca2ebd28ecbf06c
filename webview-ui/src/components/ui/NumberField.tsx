import { useId } from "react";

export interface NumberFieldProps {
  readonly label: string;
  readonly inputMode: "numeric" | "decimal";
  readonly value: string;
  /** Says what an empty field means. */
  readonly placeholder?: string;
  readonly problem: string | undefined;
  readonly onInput: (value: string) => void;
}

/** A number input. Not type="number", which reports invalid input as empty. */
export function NumberField(props: NumberFieldProps) {
  const { label, inputMode, value, placeholder, problem, onInput } = props;
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="text"
        inputMode={inputMode}
        autoComplete="off"
        placeholder={placeholder}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        onChange={(event) => onInput(event.target.value)}
      />
      {problem !== undefined && (
        <p id={`${id}-problem`} className="field-problem">
          {problem}
        </p>
      )}
    </div>
  );
}
