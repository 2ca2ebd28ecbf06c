import * as l10n from "@vscode/l10n";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./IconButton.tsx";
import { Refusal } from "./Refusal.tsx";

export interface PageProps {
  readonly heading: string;
  /** Drawn before the heading. */
  readonly icon?: ReactNode;
  /** Whether its content is loading. */
  readonly busy: boolean;
  /** Why it could not be read. */
  readonly failure: string | undefined;
  readonly onRetry: () => void;
  /** Returns to where the page was opened. */
  readonly onBack: () => void;
  readonly children: ReactNode;
}

/** A page in place of the task. Its heading has the focus at first; Escape leaves it. */
export function Page(props: PageProps) {
  const { heading, icon, busy, failure, onRetry, onBack, children } = props;
  const headingId = useId();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  useEscape(onBack);
  return (
    <section className="page" aria-labelledby={headingId} aria-busy={busy}>
      <header className="page-head">
        <IconButton icon="arrow-left" label={l10n.t("Back (Escape)")} onClick={onBack} />
        <h2 ref={title} id={headingId} tabIndex={-1}>
          {icon}
          {heading}
        </h2>
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

/** Listens to the whole document, because what had the focus in the page may be gone. */
function useEscape(onEscape: () => void): void {
  const latest = useRef(onEscape);
  latest.current = onEscape;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
