import type { Ref } from "react";
import { IconButton } from "./IconButton.tsx";

export interface ListButtonProps {
  readonly icon: string;
  /** What the list is of, and how many: "Open Questions (3 waiting)". */
  readonly label: string;
  /** The number on the badge; for 0 there is none. */
  readonly n: number;
  readonly shown: boolean;
  readonly ref: Ref<HTMLButtonElement>;
  readonly onToggle: () => void;
}

/** The way to a list, and how much is going on in it. */
export function ListButton({ icon, label, n, shown, ref, onToggle }: ListButtonProps) {
  return (
    <span className="list-button">
      <IconButton ref={ref} icon={icon} label={label} aria-expanded={shown} onClick={onToggle} />
      {n > 0 && (
        <span className="badge" aria-hidden="true">
          {n}
        </span>
      )}
    </span>
  );
}
