import type { MenuEntry } from "./Menu.tsx";
import { MenuButton } from "./MenuButton.tsx";

export interface SplitButtonProps {
  readonly label: string;
  /** Names the menu and the button that opens it: "More ways to decline". */
  readonly moreLabel: string;
  readonly kind: "primary" | "secondary" | "primary danger";
  /** Submits the surrounding form. */
  readonly submits?: boolean;
  /** The button and the menu's entries can be pressed. The menu can be opened before. */
  readonly ready: boolean;
  /** The button is disabled. Its menu can be opened. */
  readonly disabled?: boolean;
  /** The button and its menu are disabled. */
  readonly busy?: boolean;
  readonly describedBy?: string | undefined;
  /** The button's tooltip. */
  readonly title?: string | undefined;
  /** The keys that press the button, in a few characters. A narrow panel does not show them. */
  readonly keys?: string;
  readonly onClick?: () => void;
  /** The menu. Without entries, only the button is drawn. */
  readonly entries: readonly MenuEntry[];
}

/** A button for the usual action, with a menu of related actions beside it. */
export function SplitButton(props: SplitButtonProps) {
  const { label, moreLabel, kind, submits = false, ready, disabled = false, busy = false } = props;
  const { describedBy, title, keys, onClick, entries } = props;
  const main = (
    <button
      type={submits ? "submit" : "button"}
      className={kind}
      aria-disabled={!ready}
      aria-describedby={describedBy}
      title={title}
      disabled={disabled || busy}
      onClick={() => {
        if (ready) onClick?.();
      }}
    >
      {label}
      {keys !== undefined && (
        <span className="keys" aria-hidden="true">
          {keys}
        </span>
      )}
    </button>
  );
  if (entries.length === 0) return main;
  return (
    <span className="split-button">
      {main}
      <MenuButton
        label={moreLabel}
        icon="chevron-down"
        className={`${kind} split-more`}
        disabled={busy}
        {...{ ready, entries }}
      />
    </span>
  );
}
