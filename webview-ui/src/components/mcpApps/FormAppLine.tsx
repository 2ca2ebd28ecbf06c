import * as l10n from "@vscode/l10n";
import { useLayoutEffect, useRef } from "react";
import { visible } from "../../lib/visible.ts";
import { useClickGuard } from "../ask/useClickGuard.ts";
import type { FormAppState } from "./useFormApp.ts";

export interface FormAppLineProps {
  readonly serverName: string;
  readonly app: FormAppState;
  readonly disabled: boolean;
}

/** The line above a plain form that has an app: what the app has done, and the ways to it. */
export function FormAppLine({ serverName, app, disabled }: FormAppLineProps) {
  const { note, show, takeOffer } = app;
  // The app chooses when its answer comes: no click at that moment was meant for it.
  const ready = useClickGuard(note?.is);
  const line = useRef<HTMLDivElement>(null);
  // What the app filled in comes into view: in a narrow panel the message alone may have the room.
  useLayoutEffect(() => {
    const body = line.current?.closest(".ask-body");
    if (note?.is !== "filled" || line.current === null || !body) return;
    body.scrollTop += line.current.getBoundingClientRect().top - body.getBoundingClientRect().top;
  }, [note]);
  return (
    <div ref={line} className="form-app-line">
      <span role="status">{wordsOf(note, visible(serverName))}</span>
      {note?.is === "offers" && (
        <button
          type="button"
          className="link"
          disabled={disabled}
          aria-disabled={!ready}
          onClick={() => {
            if (ready) takeOffer(note.inputs);
          }}
        >
          {l10n.t("Use the App's Answer")}
        </button>
      )}
      <button type="button" className="link" disabled={disabled} onClick={show}>
        {l10n.t("Show the App")}
      </button>
    </div>
  );
}

function wordsOf(note: FormAppState["note"], serverName: string): string {
  switch (note?.is) {
    case undefined:
      return l10n.t("{0} has an app for this form.", serverName);
    case "filled":
      return l10n.t("Filled in by {0}'s app. Check it before you submit.", serverName);
    case "offers":
      return l10n.t("{0}'s app has another answer than your form.", serverName);
    case "declines":
      return l10n.t("{0}'s app suggests that you decline. You decide.", serverName);
    case "failed":
      return l10n.t({
        message: "{0} Fill in the form yourself.",
        args: [note.words],
        comment: ["{0} is a sentence that says why the app of a form cannot be used."],
      });
  }
}
