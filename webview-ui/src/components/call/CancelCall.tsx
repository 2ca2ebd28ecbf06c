import * as l10n from "@vscode/l10n";
import { useRef, useState } from "react";
import { useClickGuard } from "../ask/useClickGuard.ts";

export interface CancelCallProps {
  /** The server was asked already: the next press gives the call up. */
  readonly cancelling: boolean;
  /** The id of what says so. */
  readonly describedBy: string | undefined;
  /** Says whether it was taken; the person is told where it was not. */
  readonly onCancel: () => Promise<boolean>;
}

/**
 * Cancels a call. Of an MCP task, the first press asks the server, and the second waits for it no
 * longer: that must not come of a double click, nor of a key that is held.
 */
export function CancelCall({ cancelling, describedBy, onCancel }: CancelCallProps) {
  const phase = cancelling ? "cancelling" : "running";
  const armed = useClickGuard(phase);
  const [pressedIn, setPressedIn] = useState<string>();
  const ready = pressedIn !== phase && (armed || !cancelling);
  // Two clicks may come before the first one is drawn.
  const locked = useRef<string>(undefined);
  const press = async () => {
    if (locked.current === phase) return;
    locked.current = phase;
    setPressedIn(phase);
    if (await onCancel()) return;
    locked.current = undefined;
    setPressedIn(undefined);
  };
  return (
    <button
      type="button"
      className="secondary small"
      aria-disabled={!ready}
      aria-describedby={describedBy}
      onKeyDown={(event) => {
        if (event.repeat && event.key === "Enter") event.preventDefault();
      }}
      onClick={() => {
        if (ready) void press();
      }}
    >
      {cancelling ? l10n.t("Give Up") : l10n.t("Cancel")}
    </button>
  );
}
