import type { Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useRef, useState } from "react";
import { taskTitle } from "../../lib/format.ts";
import { Banner } from "../ui/Banner.tsx";
import { IconButton } from "../ui/IconButton.tsx";

export interface DeletedTaskProps {
  /** The task that was just deleted. */
  readonly task: Task;
  readonly onUndo: (taskId: string) => void;
  readonly onDismiss: () => void;
}

/** How long the offer to undo stays, in milliseconds. */
const offerTime = 20_000;

/**
 * Says that a task was deleted, and offers to undo that. It disappears by itself, but not while it has the focus or the
 * pointer. The head's menu offers the restoration for longer.
 */
export function DeletedTask({ task, onUndo, onDismiss }: DeletedTaskProps) {
  const undo = useRef<HTMLButtonElement>(null);
  const [held, setHeld] = useState({ focus: false, pointer: false });
  // The deleting button is gone, so this takes the focus unless the person is typing.
  useEffect(() => {
    if (!isTyping(document.activeElement)) undo.current?.focus();
  }, []);
  const waits = !held.focus && !held.pointer;
  useEffect(() => {
    if (!waits) return;
    const timer = setTimeout(onDismiss, offerTime);
    return () => clearTimeout(timer);
  }, [waits, onDismiss]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only waits while the person is at its buttons.
    <div
      className="banners"
      onFocus={() => setHeld((now) => ({ ...now, focus: true }))}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setHeld((now) => ({ ...now, focus: false }));
      }}
      onPointerEnter={() => setHeld((now) => ({ ...now, pointer: true }))}
      onPointerLeave={() => setHeld((now) => ({ ...now, pointer: false }))}
    >
      <Banner
        level="info"
        actions={
          <>
            <button type="button" className="secondary" ref={undo} onClick={() => onUndo(task.id)}>
              {l10n.t("Undo")}
            </button>
            <IconButton icon="close" label={l10n.t("Dismiss")} onClick={onDismiss} />
          </>
        }
      >
        {l10n.t("Deleted “{0}”. Its journal records remain.", taskTitle(task))}
      </Banner>
    </div>
  );
}

function isTyping(element: Element | null): boolean {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
}
