import type { Ref } from "react";
import { IconButton } from "./IconButton.tsx";

export interface ListButtonProps {
  readonly icon: string;
  /** What the list is of. */
  readonly label: string;
  /** How many in it are of interest now. */
  readonly n: number;
  /** That so many are, in words: "Tasks (3 under way)". */
  readonly busyLabel: string;
  readonly shown: boolean;
  readonly ref: Ref<HTMLButtonElement>;
  readonly onToggle: () => void;
}

/** The way to a list, and how much is going on in it. */
export function ListButton({ icon, label, n, busyLabel, shown, ref, onToggle }: ListButtonProps) {
  return (
    <span className="list-button">
      <IconButton
        ref={ref}
        icon={icon}
        label={n === 0 ? label : busyLabel}
        aria-expanded={shown}
        onClick={onToggle}
      />
      {n > 0 && (
        <span className="badge" aria-hidden="true">
          {n}
        </span>
      )}
    </span>
  );
}
