import type { KeyboardEvent } from "react";

/** Returns a handler that closes a part of a card on Escape, and keeps the dock from collapsing. */
export function atEscape(onClose: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onClose();
  };
}
