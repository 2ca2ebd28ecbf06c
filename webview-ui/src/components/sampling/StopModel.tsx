import * as l10n from "@vscode/l10n";
import { useRef, useState } from "react";
import { Refusal } from "../ui/Refusal.tsx";

export interface StopModelProps {
  /** There is a text that could be kept. */
  readonly hasText: boolean;
  /** Rejects if the model goes on. */
  readonly onStop: (keep: boolean) => Promise<void>;
}

/** The buttons that stop a model. */
export function StopModel({ hasText, onStop }: StopModelProps) {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  // A second click may arrive before the first one is rendered.
  const locked = useRef(false);
  const stop = async (keep: boolean) => {
    if (locked.current) return;
    locked.current = true;
    setBusy(true);
    setRefusal(undefined);
    try {
      await onStop(keep); // the event that ends the completion follows
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
      locked.current = false;
      setBusy(false);
    }
  };
  return (
    <>
      {refusal !== undefined && <Refusal message={refusal} />}
      <div className="actions">
        <button
          type="button"
          className="secondary small"
          disabled={busy || !hasText}
          onClick={() => void stop(true)}
        >
          {l10n.t("Stop and Keep Text")}
        </button>
        <button
          type="button"
          className="secondary small"
          disabled={busy}
          onClick={() => void stop(false)}
        >
          {l10n.t("Stop and Return Nothing")}
        </button>
      </div>
    </>
  );
}
