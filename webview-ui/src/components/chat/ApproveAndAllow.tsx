import type { FieldProblem, GrantTerms } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type KeyboardEvent, useEffect, useId, useRef } from "react";
import type { Draft, FieldInput } from "../../viewState.ts";
import { byField } from "../form/refusedProblems.ts";
import { GrantFields } from "../grants/GrantFields.tsx";
import { type GrantScope, readGrantForm, termsOf } from "../grants/grantForm.ts";
import { useNow } from "../ui/useNow.ts";

export interface ApproveAndAllowProps {
  readonly scope: GrantScope;
  readonly draft: Draft;
  /** What the sidecar found wrong with the terms the last time. */
  readonly problems: readonly FieldProblem[] | undefined;
  readonly busy: boolean;
  /** The request itself can be sent. */
  readonly canSend: boolean;
  readonly ready: boolean;
  readonly onInput: (key: string, value: FieldInput) => void;
  readonly onApprove: (grant: GrantTerms) => void;
  readonly onClose: () => void;
}

/** The second way to approve: this request, and others like it without asking. */
export function ApproveAndAllow(props: ApproveAndAllowProps) {
  const { scope, draft, problems, busy, canSend, ready, onInput, onApprove, onClose } = props;
  const wordsId = useId();
  const section = useRef<HTMLDivElement>(null);
  useEffect(() => section.current?.querySelector("input")?.focus(), []);
  // "Until" is told as a time, and that time goes on.
  const of = termsOf(readGrantForm(draft), scope, useNow(true));
  const refused = byField(problems);
  const isWrong = Object.keys(of.problems).length > 0;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onClose();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape leaves the form, wherever in it one is.
    <div ref={section} className="approve-and-allow" onKeyDown={onKeyDown}>
      <GrantFields {...{ scope, draft, of, refused, wordsId, onInput }} disabled={busy} />
      <div className="actions">
        <button
          type="button"
          className="primary"
          aria-disabled={!ready}
          aria-describedby={isWrong ? undefined : wordsId}
          disabled={!canSend || isWrong}
          onClick={() => {
            if (ready) onApprove(termsOf(readGrantForm(draft), scope, Date.now()).terms);
          }}
        >
          {l10n.t("Approve and Allow")}
        </button>
        <button type="button" className="secondary" disabled={busy} onClick={onClose}>
          {l10n.t("Back")}
        </button>
      </div>
    </div>
  );
}
