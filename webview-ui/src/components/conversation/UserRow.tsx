import type { UserMessage } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type FormEvent, useId, useRef, useState } from "react";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { messageOf } from "../../link/client.ts";
import { useView } from "../../view/ViewContext.ts";
import { Clamp } from "../ui/Clamp.tsx";
import { CopyIcon } from "../ui/CopyIcon.tsx";
import { parkedFocus } from "../ui/focus.ts";
import { IconButton } from "../ui/IconButton.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { useStart } from "../ui/useStart.ts";

export interface UserRowProps {
  readonly said: UserMessage;
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
  /** The element that takes the focus for the row. */
  readonly elementId: string;
  /** A turn is running, so the message cannot be replaced. */
  readonly running: boolean;
  /** The task accepts no more messages. */
  readonly closed: boolean;
  /** Sends another message in its place. Rejects if that fails. */
  readonly onResend: (text: string) => Promise<void>;
  /** Undefined if no branch can be created. */
  readonly onBranch: (() => void) | undefined;
}

/** A message of the person, which they can edit and resend. */
export function UserRow(props: UserRowProps) {
  const { said, keep, elementId, running, closed, onResend, onBranch } = props;
  const { text, attachments = [] } = said;
  const view = useView();
  const draftKey = `edit:${keep}`;
  const [editing, setEditing] = useState(() => view.draft(draftKey) !== undefined);
  const row = useRef<HTMLElement>(null);
  const headingId = useId();
  const done = () => {
    view.setDraft(draftKey, undefined);
    setEditing(false);
    row.current?.focus();
  };
  return (
    <article
      ref={row}
      id={elementId}
      className="said said-user"
      aria-labelledby={headingId}
      {...parkedFocus}
    >
      <header className="said-head">
        <h2 id={headingId}>{l10n.t("You")}</h2>
        {!editing && (
          <div className="said-tools">
            {!closed && (
              <IconButton
                icon="edit"
                label={
                  running
                    ? l10n.t("Edit and Resend (stop the model first)")
                    : l10n.t("Edit and Resend")
                }
                disabled={running}
                onClick={() => setEditing(true)}
              />
            )}
            {onBranch !== undefined && (
              <IconButton icon="git-branch" label={l10n.t("Branch from Here")} onClick={onBranch} />
            )}
            <CopyIcon text={text} label={l10n.t("Copy Message")} />
          </div>
        )}
      </header>
      {editing && !closed ? (
        <EditMessage
          text={(view.draft(draftKey)?.["text"] as string | undefined) ?? text}
          disabled={running}
          onText={(next) => view.setDraft(draftKey, { text: next })}
          onSend={async (next) => {
            await onResend(next);
            done();
          }}
          onCancel={done}
        />
      ) : (
        text !== "" && (
          <Clamp keep={`${keep}:text`} text={text}>
            <p className="said-text">{visible(text)}</p>
          </Clamp>
        )
      )}
      {attachments.length > 0 && (
        <p className="muted">
          {plural(
            attachments.length,
            l10n.t("With 1 attachment above."),
            l10n.t("With {0} attachments above."),
          )}
        </p>
      )}
    </article>
  );
}

interface EditMessageProps {
  readonly text: string;
  readonly disabled: boolean;
  readonly onText: (text: string) => void;
  readonly onSend: (text: string) => Promise<void>;
  readonly onCancel: () => void;
}

function EditMessage(props: EditMessageProps) {
  const [text, setText] = useState(props.text);
  const { busy, refusal, start } = useStart(props.onSend);
  const ready = !props.disabled && !busy && text.trim() !== "";
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (ready) start(text);
  };
  return (
    <form className="said-edit" onSubmit={submit}>
      <textarea
        aria-label={l10n.t("Edit your message")}
        value={text}
        ref={takeFocus}
        onChange={({ target }) => {
          setText(target.value);
          props.onText(target.value);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            event.preventDefault();
            props.onCancel();
          } else if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            submit();
          }
        }}
      />
      <p className="muted">
        {l10n.t("Later messages leave the conversation. They stay here, folded.")}
      </p>
      {refusal !== undefined && <Refusal message={messageOf(refusal)} />}
      <div className="actions">
        <button type="submit" className="primary" disabled={!ready}>
          {l10n.t("Resend")}
        </button>
        <button type="button" className="secondary" onClick={props.onCancel}>
          {l10n.t("Cancel")}
        </button>
      </div>
    </form>
  );
}

/** A ref that moves the focus from a pressed button to the element that it opened. */
function takeFocus(element: HTMLTextAreaElement | null): void {
  element?.focus({ preventScroll: true });
}
