import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { filled } from "../../lib/l10n.ts";
import { Refusal } from "../ui/Refusal.tsx";

export interface RevokeGrantProps {
  /** What else the button's name says, for who hears it alone. */
  readonly of: string;
  /** Rejects where the grant goes on. */
  readonly onRevoke: () => Promise<void>;
}

/** The end of a grant, at once. */
export function RevokeGrant({ of, onRevoke }: RevokeGrantProps) {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const revoke = async () => {
    setBusy(true);
    setRefusal(undefined);
    try {
      await onRevoke();
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
          onClick={() => void revoke()}
        >
          {filled(l10n.t("Revoke {0}"), <span className="visually-hidden">{of}</span>)}
        </button>
      </div>
      {refusal !== undefined && <Refusal message={refusal} />}
    </>
  );
}
