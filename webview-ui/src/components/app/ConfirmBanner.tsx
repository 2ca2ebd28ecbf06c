import type { ConfirmServerParams, ServerDecision } from "@assent/protocol";
import { confirmQuestion, definitionText } from "@assent/protocol/definitionText";
import type { SourcePosition } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import { useId, useRef, useState } from "react";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { readingSaid, useReading } from "../ask/useReading.ts";
import { Banner } from "../ui/Banner.tsx";
import { parkFocus } from "../ui/focus.ts";

export interface ConfirmBannerProps {
  readonly server: ConfirmServerParams;
  /** Without a decision the server does not run, and the person is asked again. */
  readonly onDecide: (decision?: ServerDecision) => void;
  readonly onConfigure: (position: SourcePosition) => void;
}

/**
 * Asks whether a server may run as a file of the workspace configures it, where the host has no dialogs. While the end
 * of what would run was never in view, the first button scrolls there.
 */
export function ConfirmBanner({ server, onDecide, onConfigure }: ConfirmBannerProps) {
  const { source, line } = server;
  const [decided, setDecided] = useState(false);
  const reading = useReading();
  const ready = useClickGuard("asked", reading.state) && !decided;
  const question = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const button = (act: () => void, holds = () => false) => ({
    type: "button" as const,
    "aria-disabled": !ready,
    onClick: () => {
      if (!ready || holds()) return;
      setDecided(true);
      keepFocus(group.current); // the button goes away
      act();
    },
  });
  return (
    <Banner level="warning">
      <fieldset ref={group} className="confirm-server" aria-labelledby={question}>
        <p id={question}>{confirmQuestion(server)}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
        <pre className="server-definition" dir="ltr" tabIndex={0}>
          {definitionText(server)}
          <span ref={reading.end} className="read-to" />
        </pre>
        <div className="actions">
          <button className="primary small" {...button(() => onDecide("allowed"), reading.holds)}>
            {reading.state === "unread" ? l10n.t("Read on") : l10n.t("Run It")}
          </button>
          <button className="secondary small" {...button(() => onDecide("refused"))}>
            {l10n.t("Do Not Run It")}
          </button>
          <button
            className="secondary small"
            {...button(() => {
              onDecide();
              onConfigure({ source, ...(line !== undefined && { line }) });
            })}
          >
            {l10n.t("Show Configuration")}
          </button>
        </div>
        <span role="status" className="visually-hidden">
          {readingSaid(reading)}
        </span>
      </fieldset>
    </Banner>
  );
}

/** Keeps the focus in the banners, so that the next one is a Tab away. */
function keepFocus(group: HTMLElement | null): void {
  const banners = group?.closest<HTMLElement>("[tabindex]");
  if (group?.contains(document.activeElement) && banners != null) parkFocus(banners);
}
