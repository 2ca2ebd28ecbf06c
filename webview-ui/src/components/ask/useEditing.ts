import * as l10n from "@vscode/l10n";
import {
  type ComponentProps,
  type KeyboardEvent,
  type RefObject,
  useLayoutEffect,
  useRef,
} from "react";

export interface Editing {
  /** The props of the button that starts and ends editing. */
  readonly toggle: ComponentProps<"button">;
  /** The element with the fields. The first field takes the focus when editing starts. */
  readonly fields: RefObject<HTMLDivElement | null>;
  /** Ends editing on Escape, which would otherwise set the whole ask aside. */
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Switches between reading and editing, and keeps the keyboard focus in place. */
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
      title: isEditing ? l10n.t("Stop editing (Escape)") : l10n.t("Edit before it is sent"),
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
