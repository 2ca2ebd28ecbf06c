import * as l10n from "@vscode/l10n";
import { useRef, useState } from "react";
import { visible } from "../../lib/visible.ts";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { PageURL } from "../elicitation/PageURL.tsx";
import { webPage } from "../elicitation/webPage.ts";
import { Icon } from "../ui/Icon.tsx";

/** What an app wants that only the person can do. */
export type Wish =
  | { readonly kind: "link"; readonly url: string }
  | { readonly kind: "message"; readonly text: string };

export interface AppWishProps {
  readonly serverName: string;
  readonly wish: Wish;
  /** The person does it, or not. A link opens by the same press. */
  readonly onAnswer: (granted: boolean) => void;
  /** The app had the focus before its wish came. */
  readonly onFocusApp: () => void;
}

/** A link that an app wants opened, or a message that it wants sent. Nothing happens before the person presses. */
export function AppWish({ serverName, wish, onAnswer, onFocusApp }: AppWishProps) {
  const ready = useClickGuard("asked");
  const section = useRef<HTMLElement>(null);
  const [before] = useState(() => document.activeElement);
  const giveFocusBack = () => {
    if (!section.current?.contains(document.activeElement)) return;
    if (before instanceof HTMLIFrameElement) onFocusApp();
    else if (before instanceof HTMLElement && before !== document.body && before.isConnected) {
      before.focus({ preventScroll: true });
    } else section.current.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
  };
  const guarded = (granted: boolean) => ({
    "aria-disabled": !ready,
    onClick: (event: { preventDefault(): void }) => {
      if (!ready) {
        event.preventDefault();
        return;
      }
      giveFocusBack(); // its button goes away
      onAnswer(granted);
    },
  });
  const page = wish.kind === "link" ? webPage(wish.url) : undefined;
  return (
    <section
      ref={section}
      className="app-wish"
      aria-label={l10n.t("{0}'s app asks", visible(serverName))}
    >
      <p>
        {wish.kind === "link"
          ? l10n.t("{0}'s app wants you to open a page:", visible(serverName))
          : l10n.t("{0}'s app wants you to send a message:", visible(serverName))}
      </p>
      {wish.kind === "message" && (
        <blockquote className="app-message">{visible(wish.text)}</blockquote>
      )}
      {page !== undefined && "refused" in page && <p>{page.refused}</p>}
      {page !== undefined && !("refused" in page) && (
        <>
          <PageURL page={page} />
          {page.warnings.length > 0 && (
            <ul className="page-warnings">
              {page.warnings.map(({ kind, words }) => (
                <li key={kind}>
                  <Icon name="warning" />
                  <span>{words}</span>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      <div className="actions">
        {page !== undefined && !("refused" in page) && (
          <a
            className="button secondary small"
            href={page.href}
            target="_blank"
            rel="noopener noreferrer"
            {...guarded(true)}
          >
            {l10n.t("Open in Browser")}
          </a>
        )}
        {wish.kind === "message" && (
          <button type="button" className="secondary small" {...guarded(true)}>
            {l10n.t("Put into Message")}
          </button>
        )}
        <button type="button" className="secondary small" {...guarded(false)}>
          {l10n.t("Dismiss")}
        </button>
      </div>
    </section>
  );
}
