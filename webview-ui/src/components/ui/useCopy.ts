import * as l10n from "@vscode/l10n";
import { useState } from "react";

export interface Copying {
  readonly copy: () => Promise<void>;
  /** Whether the text was copied; undefined before the first try. */
  readonly copied: boolean | undefined;
  /** The result for screen readers; empty before the first try. */
  readonly status: string;
}

/** Copies a text to the clipboard, and reports whether that worked. A browser may not allow it. */
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
