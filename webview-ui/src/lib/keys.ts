import * as l10n from "@vscode/l10n";

/** The keys that answer a question with its first button, as this system writes them. */
export interface AcceptKeys {
  /** For a tooltip. */
  readonly words: string;
  /** For a button, which has less room. */
  readonly short: string;
}

/** The keys are Ctrl+Enter, or Command and Enter on Apple's systems. */
export function acceptKeys(): AcceptKeys {
  return /^(?:Mac|iP)/.test(navigator.platform)
    ? { words: "⌘⏎", short: "⌘⏎" }
    : { words: l10n.t("Ctrl+Enter"), short: l10n.t("Ctrl+⏎") };
}
