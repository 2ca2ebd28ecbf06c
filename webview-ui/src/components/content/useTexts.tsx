import * as l10n from "@vscode/l10n";
import { type ReactNode, useState } from "react";
import { useView } from "../../view/ViewContext.ts";

/** How texts are shown: letter by letter, or as Markdown. */
export type TextsAs = "markdown" | "plain";

/**
 * Lets the person choose how a request's or an answer's texts are shown. They are exact at first, because they are what is
 * approved. Returns the choice, and the button for it.
 */
export function useTexts(keep: string): readonly [texts: TextsAs, toggle: ReactNode] {
  const view = useView();
  const key = `${keep}:markdown`;
  const [isMarkdown, setMarkdown] = useState(() => view.expanded(key) ?? false);
  const toggle = (
    <button
      type="button"
      className="link texts-toggle"
      onClick={() => {
        setMarkdown(!isMarkdown);
        view.setExpanded(key, !isMarkdown);
      }}
    >
      {isMarkdown ? l10n.t("Show Exact Text") : l10n.t("Show as Markdown")}
    </button>
  );
  return [isMarkdown ? "markdown" : "plain", toggle];
}
