import * as l10n from "@vscode/l10n";
import { useRef, useState } from "react";
import { useClickGuard } from "../ask/useClickGuard.ts";
import { Icon } from "../ui/Icon.tsx";

export interface CancelCallProps {
  /** The server was asked to cancel already. The next press gives up the call. */
  readonly cancelling: boolean;
  /** The id of the element that says so. */
  readonly describedBy: string | undefined;
  /** Resolves to whether the sidecar accepted it. If not, the person is told. */
  readonly onCancel: () => Promise<boolean>;
}

/**
 * Cancels a call. For an MCP task, the first press asks the server to cancel, and the second stops waiting for it. A
 * double click or a held key must not do both.
 */
export function CancelCall({ cancelling, describedBy, onCancel }: CancelCallProps) {
  const phase = cancelling ? "cancelling" : "running";
  const armed = useClickGuard(phase);
  const [pressedIn, setPressedIn] = useState<string>();
  const ready = pressedIn !== phase && (armed || !cancelling);
  // A second click may arrive before the first one is rendered.
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
      className={cancelling ? "secondary small" : "icon-button"}
      aria-label={cancelling ? undefined : l10n.t("Cancel")}
      title={cancelling ? l10n.t("Stop waiting for the server") : l10n.t("Cancel the call")}
      aria-disabled={!ready}
      aria-describedby={describedBy}
      onKeyDown={(event) => {
        if (event.repeat && event.key === "Enter") event.preventDefault();
      }}
      onClick={() => {
        if (ready) void press();
      }}
    >
      {cancelling ? l10n.t("Give Up") : <Icon name="debug-stop" />}
    </button>
  );
}
