import { type ReactNode, useRef, useState } from "react";

export interface OpenedFormProps {
  /** The words of the button. */
  readonly label: string;
  /** Draws the form. It is done when something was made, or the person cancelled. */
  readonly children: (onDone: () => void) => ReactNode;
}

/** A button, and the form that it opens and closes. Escape closes it, too. */
export function OpenedForm({ label, children }: OpenedFormProps) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setIsOpen(false);
    button.current?.focus();
  };
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
      {isOpen && (
        // biome-ignore lint/a11y/noStaticElementInteractions: Escape leaves the form, wherever in it one is.
        <div
          className="approve-and-allow"
          onKeyDown={(event) => {
            if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
            event.preventDefault();
            close();
          }}
        >
          {children(close)}
        </div>
      )}
    </>
  );
}
