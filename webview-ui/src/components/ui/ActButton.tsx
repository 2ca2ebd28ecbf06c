import { useState } from "react";
import { filled } from "../../lib/l10n.ts";
import { Refusal } from "./Refusal.tsx";

export interface ActButtonProps {
  /** The button's text, with a place for the rest of its name. */
  readonly text: string;
  /** The rest of the button's name, for screen readers only. */
  readonly of: string;
  /** Rejects if the action failed. */
  readonly onAct: () => Promise<void>;
}

/** A button for an action, such as revoking a grant. It shows why the action failed. */
export function ActButton({ text, of, onAct }: ActButtonProps) {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const act = async () => {
    setBusy(true);
    setRefusal(undefined);
    try {
      await onAct();
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div className="actions">
        <button
          type="button"
          className="secondary small"
          disabled={busy}
          onClick={() => void act()}
        >
          {filled(text, <span className="visually-hidden">{of}</span>)}
        </button>
      </div>
      {refusal !== undefined && <Refusal message={refusal} />}
    </>
  );
}
