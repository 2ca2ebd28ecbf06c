import type { Ask } from "@assent/protocol";
import { useContext } from "react";
import { AskTitleLine, titleOf } from "../ask/askTitle.tsx";
import { ShowContext } from "../ask/contexts.ts";
import { Icon } from "../ui/Icon.tsx";

export interface WaitingLineProps {
  readonly ask: Ask;
  readonly elementId: string;
}

/** An open ask's line in the conversation. It brings the ask into the dock. */
export function WaitingLine({ ask: { askId, question }, elementId }: WaitingLineProps) {
  const show = useContext(ShowContext);
  return (
    <button id={elementId} type="button" className="waiting-line" onClick={() => show(askId)}>
      <Icon name={titleOf(question).icon} />
      <span>
        <AskTitleLine question={question} />
      </span>
    </button>
  );
}
