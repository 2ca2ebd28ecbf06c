import * as l10n from "@vscode/l10n";
import { useState } from "react";

export interface Copying {
  readonly copy: () => Promise<void>;
  /** Whether the text is on the clipboard; undefined before it was tried. */
  readonly copied: boolean | undefined;
  /** What became of it, to be read out; empty before. */
  readonly status: string;
}

/** Puts a text on the clipboard, and says whether it is there: a browser may not allow it. */
export function useCopy(text: string): Copying {
  const [copied, setCopied] = useState<boolean>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      setCopied(false);
    }
  };
  const status =
    copied === undefined
      ? ""
      : copied
        ? l10n.t("Copied.")
        : l10n.t("The clipboard is not available. Select the text and copy it.");
  return { copy, copied, status };
}
