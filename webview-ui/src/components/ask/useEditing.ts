import {
  type ComponentProps,
  type KeyboardEvent,
  type RefObject,
  useLayoutEffect,
  useRef,
} from "react";

export interface Editing {
  /** The props of the button that begins and ends the editing. */
  readonly toggle: ComponentProps<"button">;
  /** Has the fields. The first of them takes the focus when the editing begins. */
  readonly fields: RefObject<HTMLDivElement | null>;
  /** Ends the editing at Escape, which would otherwise put the whole ask away. */
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Switches between reading and editing, without losing a keyboard's place. */
export function useEditing(isEditing: boolean, onChange: (isEditing: boolean) => void): Editing {
  const button = useRef<HTMLButtonElement>(null);
  const fields = useRef<HTMLDivElement>(null);
  const begins = useRef(false);
  useLayoutEffect(() => {
    if (isEditing && begins.current) {
      fields.current?.querySelector<HTMLElement>("textarea, input")?.focus();
    }
    begins.current = false;
  }, [isEditing]);
  return {
    toggle: {
      ref: button,
      type: "button",
      className: "secondary with-icon",
      "aria-pressed": isEditing,
      onClick: () => {
        begins.current = !isEditing;
        onChange(!isEditing);
      },
    },
    fields,
    onKeyDown: (event) => {
      if (!isEditing || event.key !== "Escape" || event.nativeEvent.isComposing) return;
      event.preventDefault();
      onChange(false);
      button.current?.focus();
    },
  };
}
