import { type FocusEvent, type Ref, useId, useImperativeHandle, useRef, useState } from "react";
import { Icon } from "./Icon.tsx";
import { Menu, type MenuEntry } from "./Menu.tsx";

export interface MenuButtonProps {
  /** Names the button and its menu. */
  readonly label: string;
  /** A codicon's name. */
  readonly icon: string;
  /** The class names of the button. */
  readonly className: string;
  /** The entries can be chosen. The menu can be opened before. */
  readonly ready?: boolean;
  readonly disabled?: boolean;
  readonly entries: readonly MenuEntry[];
  /** The button. */
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A button that opens a menu. */
export function MenuButton(props: MenuButtonProps) {
  const { label, icon, className, ready = true, disabled = false, entries, ref } = props;
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const menuId = useId();
  useImperativeHandle(ref, () => button.current as HTMLButtonElement);
  const close = (returnFocus: boolean) => {
    setOpen(false);
    if (returnFocus) button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the menu closes when the focus leaves it.
    <span
      ref={root}
      className="menu-button"
      onBlur={({ relatedTarget }: FocusEvent) => {
        if (!root.current?.contains(relatedTarget)) close(false);
      }}
    >
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? menuId : undefined}
        disabled={disabled}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        <Icon name={icon} />
      </button>
      {open && <Menu id={menuId} {...{ label, ready, entries }} onClose={close} />}
    </span>
  );
}
