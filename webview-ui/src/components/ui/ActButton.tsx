import { useState } from "react";
import { filled } from "../../lib/l10n.ts";
import { Refusal } from "./Refusal.tsx";

export interface ActButtonProps {
  /** The button's text, with a place for what its name says besides. */
  readonly text: string;
  /** What else the button's name says, for who hears it alone. */
  readonly of: string;
  /** Rejects where nothing was done. */
  readonly onAct: () => Promise<void>;
}

/** A button that has something done at once, such as the end of a grant, and says why it was not. */
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
