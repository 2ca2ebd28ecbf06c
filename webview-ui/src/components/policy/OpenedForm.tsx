import { type ReactNode, useRef, useState } from "react";

export interface OpenedFormProps {
  /** The words of the button. */
  readonly label: string;
  /** Draws the form. It is done when something was made, or the person cancelled. */
  readonly children: (onDone: () => void) => ReactNode;
}

/** A button, and the form that it opens and closes. */
export function OpenedForm({ label, children }: OpenedFormProps) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <div className="actions">
        <button
          ref={button}
          type="button"
          className="secondary small"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {label}
        </button>
      </div>
      {isOpen &&
        children(() => {
          setIsOpen(false);
          button.current?.focus();
        })}
    </>
  );
}
