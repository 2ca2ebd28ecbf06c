import type { ReactNode } from "react";

export interface TickProps {
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onTick: (checked: boolean) => void;
  readonly children: ReactNode;
}

/** A checkbox with its label. */
export function Tick({ checked, disabled = false, onTick, children }: TickProps) {
  return (
    <label className="tick">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onTick(event.target.checked)}
      />
      <span>{children}</span>
    </label>
  );
}
