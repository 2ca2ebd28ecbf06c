import { type FocusEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Icon } from "./Icon.tsx";

/** One line of a split button's menu. */
export interface MenuEntry {
  readonly label: string;
  /** Explains the entry; absent if the label says enough. */
  readonly about?: string;
  readonly onChoose: () => void;
}

export interface SplitButtonProps {
  readonly label: string;
  /** Names the menu and the button that opens it: "More ways to decline". */
  readonly moreLabel: string;
  readonly kind: "primary" | "secondary" | "primary danger";
  /** Submits the form that it stands in. */
  readonly submits?: boolean;
  /** The button and the menu's entries can be pressed. The menu can be opened before. */
  readonly ready: boolean;
  /** The button is disabled. Its menu can be opened. */
  readonly disabled?: boolean;
  /** The button and its menu are disabled. */
  readonly busy?: boolean;
  readonly describedBy?: string | undefined;
  readonly onClick?: () => void;
  /** The menu. Without entries, only the button is drawn. */
  readonly entries: readonly MenuEntry[];
}

/** A button for the usual action, with a menu of related actions beside it. */
export function SplitButton(props: SplitButtonProps) {
  const { label, moreLabel, kind, submits = false, ready, disabled = false, busy = false } = props;
  const { describedBy, onClick, entries } = props;
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const close = (returnFocus: boolean) => {
    setOpen(false);
    if (returnFocus) toggle.current?.focus();
  };
  const main = (
    <button
      type={submits ? "submit" : "button"}
      className={kind}
      aria-disabled={!ready}
      aria-describedby={describedBy}
      disabled={disabled || busy}
      onClick={() => {
        if (ready) onClick?.();
      }}
    >
      {label}
    </button>
  );
  if (entries.length === 0) return main;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the menu closes when the focus leaves it.
    <span
      ref={root}
      className="split-button"
      onBlur={({ relatedTarget }: FocusEvent) => {
        if (!root.current?.contains(relatedTarget)) close(false);
      }}
    >
      {main}
      <button
        ref={toggle}
        type="button"
        className={`${kind} split-more`}
        aria-label={moreLabel}
        title={moreLabel}
        aria-haspopup="menu"
        aria-expanded={open}
        disabled={busy}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        <Icon name="chevron-down" />
      </button>
      {open && <Menu label={moreLabel} {...{ ready, entries }} onClose={close} />}
    </span>
  );
}

interface MenuProps {
  readonly label: string;
  readonly ready: boolean;
  readonly entries: readonly MenuEntry[];
  readonly onClose: (returnFocus: boolean) => void;
}

/** The ARIA pattern of a menu: arrows go round in it, and Escape leaves it. */
function Menu({ label, ready, entries, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const items = () => [...(menu.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  useEffect(() => {
    menu.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const all = items();
    const at = all.findIndex((item) => item.matches(":focus"));
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at + all.length - 1) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    const next = moves[event.key];
    if (next !== undefined) all[next]?.focus();
    else if (event.key === "Escape") onClose(true);
    else if (event.key === "Tab") {
      onClose(true); // and on from there
      return;
    } else if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
  };
  return (
    <div
      ref={menu}
      role="menu"
      aria-label={label}
      className="split-menu"
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {entries.map(({ label, about, onChoose }, index) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          aria-disabled={!ready}
          aria-labelledby={`${id}-${index}`}
          aria-describedby={about === undefined ? undefined : `${id}-${index}-about`}
          onClick={() => {
            if (!ready) return;
            onClose(true);
            onChoose();
          }}
        >
          <span id={`${id}-${index}`}>{label}</span>
          {about !== undefined && (
            <span id={`${id}-${index}-about`} className="muted">
              {about}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
