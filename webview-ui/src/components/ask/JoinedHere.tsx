import type { JoinedCall } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useRef, useState } from "react";

export interface JoinedHereProps {
  /** The equal calls that wait for the question's call; undefined if there are none. */
  readonly joined: JoinedCall | undefined;
  /** Resolves to whether the sidecar accepted it. If not, the person is told. */
  readonly onRunSeparately: () => Promise<boolean>;
}

/** Says that the same call came again and gets the result of the question's call, and offers to run it on its own. */
export function JoinedHere({ joined, onRunSeparately }: JoinedHereProps) {
  // The element stays, so that screen readers announce a text that comes later.
  return (
    <div className="joined-here muted" role="status">
      {joined !== undefined && (
        <>
          <p>
            {joined.givenUp === true
              ? l10n.t(
                  "The same call came again, after the first one was given up. Your answer is for the one that came again.",
                )
              : l10n.t("The same call came again. Your answer is for both.")}
          </p>
          {joined.separable === true && <RunSeparately onPress={onRunSeparately} />}
        </>
      )}
    </div>
  );
}

function RunSeparately({ onPress }: { readonly onPress: () => Promise<boolean> }) {
  const [busy, setBusy] = useState(false);
  // A second click may arrive before the first one is rendered: it would run another call.
  const locked = useRef(false);
  const press = async (button: HTMLElement) => {
    if (locked.current) return;
    locked.current = true;
    setBusy(true);
    button.closest<HTMLElement>(".ask-card")?.focus(); // the button goes, and its focus would be lost
    await onPress();
    locked.current = false;
    setBusy(false);
  };
  return (
    <button
      type="button"
      className="secondary small"
      aria-disabled={busy}
      onKeyDown={(event) => {
        if (event.repeat && event.key === "Enter") event.preventDefault();
      }}
      onClick={({ currentTarget }) => void press(currentTarget)}
    >
      {l10n.t("Run Separately")}
    </button>
  );
}
