import type { ReactNode, Ref } from "react";
import { IconButton } from "../ui/IconButton.tsx";

export interface ChoicePanelProps {
  readonly id: string;
  readonly ref?: Ref<HTMLFieldSetElement>;
  readonly legend: string;
  /** The label of the button that closes it. */
  readonly closeLabel: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A panel of choices that a button of the composer opens. Escape closes it. */
export function ChoicePanel({ id, ref, legend, closeLabel, onClose, children }: ChoicePanelProps) {
  return (
    <fieldset
      ref={ref}
      id={id}
      className="servers-choice"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onClose();
      }}
    >
      <legend>{legend}</legend>
      <IconButton icon="close" label={closeLabel} onClick={onClose} />
      {children}
    </fieldset>
  );
}
