import { type ReactNode, useId } from "react";
import { askElementId, parkedFocus } from "./focus.ts";

export interface SettledAskProps {
  readonly askId: string;
  /** Who wanted what. */
  readonly head: ReactNode;
  readonly children: ReactNode;
}

/** The frame of an ask that is settled, which keeps the focus that the open one had. */
export function SettledAsk({ askId, head, children }: SettledAskProps) {
  const headingId = useId();
  return (
    <section
      id={askElementId(askId)}
      className="settled"
      aria-labelledby={headingId}
      {...parkedFocus}
    >
      <h2 id={headingId} className="settled-head">
        {head}
      </h2>
      {children}
    </section>
  );
}
