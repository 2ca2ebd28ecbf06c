import type { FieldProblem, GrantTerms } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useRef } from "react";
import type { Draft, FieldInput } from "../../view/viewState.ts";
import { AcceptButton } from "../ask/AcceptButton.tsx";
import { atEscape } from "../ask/atEscape.ts";
import type { Reading } from "../ask/useReading.ts";
import { byField } from "../form/refusedProblems.ts";
import { GrantFields } from "../grants/GrantFields.tsx";
import { type GrantScope, readGrantForm, termsOf } from "../grants/grantForm.ts";
import { useNow } from "../ui/useNow.ts";

/** A grant that the person is about to create. */
interface Allowing {
  readonly scope: GrantScope;
  readonly draft: Draft;
  readonly busy: boolean;
  /** The id of the sentence that describes the grant. */
  readonly wordsId: string;
  readonly onClose: () => void;
}

export interface ApproveAndAllowProps extends Allowing {
  /** The problems that the sidecar found in the last terms. */
  readonly problems: readonly FieldProblem[] | undefined;
  readonly onInput: (key: string, value: FieldInput) => void;
}

/** The second way to approve: this request, and similar ones without asking, within these bounds. */
export function ApproveAndAllow(props: ApproveAndAllowProps) {
  const { scope, draft, problems, busy, wordsId, onInput, onClose } = props;
  const section = useRef<HTMLDivElement>(null);
  useEffect(() => section.current?.querySelector("input")?.focus(), []);
  // The expiry depends on the current time.
  const of = termsOf(readGrantForm(draft), scope, useNow(true));
  const refused = byField(problems);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape leaves the form from every control in it.
    <div ref={section} className="approve-and-allow" onKeyDown={atEscape(onClose)}>
      <GrantFields {...{ scope, draft, of, refused, wordsId, onInput }} disabled={busy} />
    </div>
  );
}

export interface AllowActionsProps extends Allowing {
  /** The request itself can be sent. */
  readonly canSend: boolean;
  readonly reading: Reading;
  readonly ready: boolean;
  readonly onApprove: (grant: GrantTerms) => void;
}

/** The buttons for the grant, in place of the request's. */
export function AllowActions(props: AllowActionsProps) {
  const { scope, draft, busy, wordsId, canSend, reading, ready, onApprove, onClose } = props;
  const { problems } = termsOf(readGrantForm(draft), scope, useNow(true));
  const isWrong = Object.keys(problems).length > 0;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape leaves the form from every control in it.
    <div className="actions" onKeyDown={atEscape(onClose)}>
      <AcceptButton
        label={l10n.t("Approve and Allow")}
        {...{ reading, ready }}
        describedBy={isWrong ? undefined : wordsId}
        disabled={!canSend || isWrong}
        onClick={() => onApprove(termsOf(readGrantForm(draft), scope, Date.now()).terms)}
      />
      <button type="button" className="secondary" disabled={busy} onClick={onClose}>
        {l10n.t("Back")}
      </button>
    </div>
  );
}
