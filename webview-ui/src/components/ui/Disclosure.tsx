import { type ReactNode, useState } from "react";
import { useView } from "../../view/ViewContext.ts";

export interface DisclosureProps {
  /** Names the disclosure in the view's state; unique in the panel. */
  readonly keep: string;
  readonly summary: ReactNode;
  readonly initiallyOpen?: boolean;
  /** The id of the element that takes the focus for it. */
  readonly summaryId?: string;
  readonly children: ReactNode;
}

/** A section that the person can open and close. The view's state stores whether it is open. */
export function Disclosure(props: DisclosureProps) {
  const { keep, summary, initiallyOpen = false, summaryId, children } = props;
  const view = useView();
  const [open, setOpen] = useState(() => view.expanded(keep) ?? initiallyOpen);
  return (
    <details
      className="disclosure"
      open={open}
      onToggle={(event) => {
        const now = event.currentTarget.open;
        if (now === open) return;
        setOpen(now);
        view.setExpanded(keep, now);
      }}
    >
      <summary id={summaryId}>{summary}</summary>
      {open && <div className="disclosure-body">{children}</div>}
    </details>
  );
}
