import * as l10n from "@vscode/l10n";
import { createContext, type ReactNode, useContext, useState } from "react";
import { useView } from "../../view/ViewContext.ts";

/** Texts with at most this many characters are never clamped. */
export const UnclampedContext = createContext(0);

/** Marks a button behind which is more of a content. A question is not read while it has one. */
export const showsMore = { "data-shows-more": "" } as const;

export interface ClampProps {
  /** Names the clamp in the view's state; unique in the panel. */
  readonly keep: string;
  /** The content's text, which decides whether it is long. */
  readonly text: string;
  /** The length of the whole text in characters, if the content is only a part. */
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
      <button
        type="button"
        className="link"
        aria-expanded={all}
        {...(!all && showsMore)}
        onClick={toggle}
      >
        {all
          ? l10n.t("Show less")
          : l10n.t("Show all ({0} characters)", characters.toLocaleString())}
      </button>
    </div>
  );
}

const longLines = 12;
// About one line of a narrow panel.
const lineLength = 60;

/** Estimates by the text alone, because measuring would render everything twice. */
function isLong(text: string): boolean {
  if (text.length > longLines * lineLength * 2) return true;
  const lines = text.split("\n").map((line) => Math.max(1, Math.ceil(line.length / lineLength)));
  return lines.reduce((sum, n) => sum + n, 0) > longLines;
}
