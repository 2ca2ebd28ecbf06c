import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import { LongText } from "./LongText.tsx";

export interface HiddenNoteProps {
  readonly id: string;
  /** The content of the control above. */
  readonly text: string;
}

/** Reports whether a text has characters that a control does not show. */
export function hides(text: string): boolean {
  return visible(text) !== text;
}

/**
 * Names the hidden characters of a text, below its control. The control keeps the text unchanged, because it will be
 * sent.
 */
export function HiddenNote({ id, text }: HiddenNoteProps) {
  if (!hides(text)) return null;
  return (
    <div id={id} className="field-sent" dir="ltr">
      <p>{l10n.t("This text has hidden characters. They are named here:")}</p>
      <LongText text={text} />
    </div>
  );
}
