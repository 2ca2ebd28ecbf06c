import type { Ref } from "react";
import { IconButton } from "./IconButton.tsx";

export interface ListButtonProps {
  readonly icon: string;
  /** The name of the list, with a number: "Open Questions (3 waiting)". */
  readonly label: string;
  /** The number on the badge. There is no badge for 0. */
  readonly n: number;
  readonly ref: Ref<HTMLButtonElement>;
  readonly onOpen: () => void;
}

/** A button that opens a list, with a badge. */
export function ListButton({ icon, label, n, ref, onOpen }: ListButtonProps) {
  return (
    <span className="list-button">
      <IconButton ref={ref} icon={icon} label={label} onClick={onOpen} />
      {n > 0 && (
        <span className="badge" aria-hidden="true">
          {n}
        </span>
      )}
    </span>
  );
}
