import * as l10n from "@vscode/l10n";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./IconButton.tsx";
import { Refusal } from "./Refusal.tsx";

export interface ListPanelProps {
  readonly heading: string;
  /** Drawn before the heading. */
  readonly icon?: ReactNode;
  readonly closeLabel: string;
  /** Whether the list is loading. */
  readonly busy: boolean;
  /** Why it could not be read. */
  readonly failure: string | undefined;
  readonly onRetry: () => void;
  readonly onClose: () => void;
  /** Returns to the list from which this was opened, if there is one. Escape does that first. */
  readonly back?: { readonly label: string; readonly onBack: () => void };
  readonly children: ReactNode;
}

/** A list above the conversation. It has the focus at first. */
export function ListPanel(props: ListPanelProps) {
  const { heading, icon, closeLabel, busy, failure, onRetry, onClose, back, children } = props;
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
        if (back === undefined) onClose();
        else back.onBack();
      }}
    >
      <header className="list-panel-head">
        {back !== undefined && (
          <IconButton icon="arrow-left" label={back.label} onClick={back.onBack} />
        )}
        <h2 id={headingId}>
          {icon}
          {heading}
        </h2>
        <IconButton icon="close" label={closeLabel} onClick={onClose} />
      </header>
      {failure !== undefined && (
        <>
          <Refusal message={l10n.t("The list could not be read: {0}", failure)} />
          <button type="button" className="secondary small" onClick={onRetry}>
            {l10n.t("Try Again")}
          </button>
        </>
      )}
      {children}
    </section>
  );
}
