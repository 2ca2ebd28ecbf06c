import * as l10n from "@vscode/l10n";
import { type ReactNode, useState } from "react";
import { useView } from "../../view/ViewContext.ts";

/** How texts are shown: verbatim, or as Markdown. */
export type TextsAs = "markdown" | "plain";

/**
 * Lets the person choose how the texts of a request or an answer are shown. They are verbatim at first, because that is
 * what the person approves. Returns the choice, and its button.
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
