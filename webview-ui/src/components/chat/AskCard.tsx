import * as l10n from "@vscode/l10n";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { filled } from "../../l10n.ts";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { AskingServer } from "./AskingServer.tsx";
import { during, type Occasion } from "./during.ts";
import { askElementId, mayTakeFocus } from "./focus.ts";

export interface AskCardProps extends Occasion {
  readonly askId: string;
  readonly serverName: string;
  readonly icon: string;
  /** What the server does, with its name at {0}: "{0} asks", "{0} wants a completion". */
  readonly does: string;
  /** An answer is under way. */
  readonly busy: boolean;
  /** The ask can be answered now. */
  readonly ready: boolean;
  /** Put away without an answer: MCP's "cancel". */
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

/** The frame of every open ask: who asks, and the way out that answers nothing. */
export function AskCard(props: AskCardProps) {
  const { askId, serverName, icon, does, busy, ready, onCancel, children } = props;
  const occasion = during(props);
  const headingId = useId();
  const card = useRef<HTMLElement>(null);

  useEffect(() => {
    if (mayTakeFocus()) card.current?.focus({ preventScroll: true });
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onCancel();
  };

  return (
    <section
      ref={card}
      id={askElementId(askId)}
      className="ask-card"
      aria-labelledby={headingId}
      aria-busy={busy}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <header className="ask-head">
        <Icon name={icon} />
        <div className="ask-who">
          <h2 id={headingId}>{filled(does, <span className="name">{serverName}</span>)}</h2>
          {occasion !== undefined && <p className="muted">{occasion}</p>}
          <AskingServer {...{ askId, serverName }} />
        </div>
        <IconButton
          icon="close"
          label={l10n.t("Cancel")}
          aria-disabled={!ready}
          onClick={onCancel}
        />
      </header>
      {children}
    </section>
  );
}
