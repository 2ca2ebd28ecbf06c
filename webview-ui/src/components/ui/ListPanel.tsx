import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./IconButton.tsx";
import { Refusal } from "./Refusal.tsx";

export interface ListPanelProps {
  readonly heading: string;
  readonly closeLabel: string;
  /** The list is being read. */
  readonly busy: boolean;
  /** Why it could not be read. */
  readonly failure: string | undefined;
  readonly onRetry: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A list above the conversation, which the person opened. It has the focus at first. */
export function ListPanel(props: ListPanelProps) {
  const { heading, closeLabel, busy, failure, onRetry, onClose, children } = props;
  const headingId = useId();
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.focus(), []);
  return (
    <section
      ref={section}
      className="list-panel"
      aria-labelledby={headingId}
      aria-busy={busy}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header className="list-panel-head">
        <h2 id={headingId}>{heading}</h2>
        <IconButton icon="close" label={closeLabel} onClick={onClose} />
      </header>
      {failure !== undefined && (
        <>
          <Refusal message={`The list could not be read: ${failure}`} />
          <button type="button" className="secondary small" onClick={onRetry}>
            Try Again
          </button>
        </>
      )}
      {children}
    </section>
  );
}
