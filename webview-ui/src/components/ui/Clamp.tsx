import * as l10n from "@vscode/l10n";
import { createContext, type ReactNode, useContext, useState } from "react";
import { useView } from "../../view/ViewContext.ts";

/** Texts of at most so many characters are never clamped, however many lines they have. */
export const UnclampedContext = createContext(0);

export interface ClampProps {
  /** Names the clamp in the view's state; unique in the panel. */
  readonly keep: string;
  /** What the content says, to tell whether it is long. */
  readonly text: string;
  /** How many characters the whole has, if the content is not all of it. */
  readonly characters?: number;
  readonly children: ReactNode;
}

/** Shows the beginning of a long content, and all of it on demand. */
export function Clamp({ keep, text, characters = text.length, children }: ClampProps) {
  const view = useView();
  const unclamped = useContext(UnclampedContext);
  const [all, setAll] = useState(() => view.expanded(keep) ?? false);
  if (text.length <= unclamped || !isLong(text)) return children;
  const toggle = () => {
    setAll(!all);
    view.setExpanded(keep, !all);
  };
  return (
    <div className="clamp">
      <div className={all ? "clamp-all" : "clamp-some"}>{children}</div>
      <button type="button" className="link" aria-expanded={all} onClick={toggle}>
        {all
          ? l10n.t("Show less")
          : l10n.t("Show all ({0} characters)", characters.toLocaleString())}
      </button>
    </div>
  );
}

const longLines = 12;
// About what fits into a line of a narrow panel.
const lineLength = 60;

/** An estimate by the text alone: measuring would draw everything twice. */
function isLong(text: string): boolean {
  if (text.length > longLines * lineLength * 2) return true;
  const lines = text.split("\n").map((line) => Math.max(1, Math.ceil(line.length / lineLength)));
  return lines.reduce((sum, n) => sum + n, 0) > longLines;
}
