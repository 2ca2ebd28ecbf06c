import { type ComponentProps, type KeyboardEvent, useRef } from "react";

export interface Editing {
  /** The props of the button that begins and ends the editing. */
  readonly toggle: ComponentProps<"button">;
  /** Ends the editing at Escape, which would otherwise put the whole ask away. */
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Switches between reading and editing, without losing a keyboard's place. */
export function useEditing(isEditing: boolean, onChange: (isEditing: boolean) => void): Editing {
  const button = useRef<HTMLButtonElement>(null);
  return {
    toggle: {
      ref: button,
      type: "button",
      className: "secondary with-icon",
      "aria-pressed": isEditing,
      onClick: () => onChange(!isEditing),
    },
    onKeyDown: (event) => {
      if (!isEditing || event.key !== "Escape" || event.nativeEvent.isComposing) return;
      event.preventDefault();
      onChange(false);
      button.current?.focus();
    },
  };
}
