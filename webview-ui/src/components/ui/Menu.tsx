import { type KeyboardEvent, useEffect, useId, useRef } from "react";
import { Icon } from "./Icon.tsx";

/** One line of a menu. */
export interface MenuEntry {
  readonly label: string;
  /** Tells the entry from the others where its label changes. With another one it is another entry, without the focus. */
  readonly id?: string;
  /** A codicon's name. */
  readonly icon?: string;
  /** Explains the entry; undefined if the label is enough. */
  readonly about?: string;
  /** A line separates it from the entry before. */
  readonly apart?: boolean;
  /** It destroys something. */
  readonly danger?: boolean;
  readonly onChoose: () => void;
}

export interface MenuProps {
  readonly id: string;
  readonly label: string;
  /** The entries can be chosen. */
  readonly ready: boolean;
  readonly entries: readonly MenuEntry[];
  readonly onClose: (returnFocus: boolean) => void;
}

/** A menu by the ARIA pattern: arrow keys wrap around, and Escape closes it. */
export function Menu({ id, label, ready, entries, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const prefix = useId();
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
      onClose(true); // the Tab key continues from there
      return;
    } else if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
  };
  return (
    <div
      ref={menu}
      id={id}
      role="menu"
      aria-label={label}
      className="menu"
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {entries.map(({ label, id = label, icon, about, apart, danger, onChoose }, index) => (
        <button
          key={id}
          type="button"
          role="menuitem"
          className={`${apart ? "apart" : ""} ${danger ? "dangerous" : ""}`}
          tabIndex={-1}
          aria-disabled={!ready}
          aria-labelledby={`${prefix}-${index}`}
          aria-describedby={about === undefined ? undefined : `${prefix}-${index}-about`}
          onClick={() => {
            if (!ready) return;
            onClose(true);
            onChoose();
          }}
        >
          {icon !== undefined && <Icon name={icon} />}
          <span>
            <span id={`${prefix}-${index}`}>{label}</span>
            {about !== undefined && (
              <span id={`${prefix}-${index}-about`} className="muted">
                {about}
              </span>
            )}
          </span>
        </button>
      ))}
    </div>
  );
}
